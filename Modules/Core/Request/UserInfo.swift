extension ImageRequest {
    /// Values that a caller attaches to a request for itself and for its interceptors, under typed keys.
    ///
    /// ```swift
    /// let row = ImageRequest.UserInfo.Key<Int>("row")
    /// request.userInfo[row] = 3
    /// ```
    ///
    /// A static property in an extension of `Key<Int>` allows the form `request.userInfo[.row]`.
    ///
    /// The values are part of no key: requests that differ only in them share their work and their cached images.
    public struct UserInfo: Sendable {
        /// The name of a value, with its type. Keys with equal names and different types are different keys.
        public struct Key<Value: Sendable>: Sendable, Hashable {
            /// The name, which must be unique among the values of one type.
            public var name: String

            /// Creates a key.
            public init(_ name: String) { self.name = name }
        }

        private struct ID: Hashable, Sendable {
            let name: String
            let type: ObjectIdentifier
        }

        private var values: [ID: any Sendable] = [:]

        /// Creates a collection without values.
        public init() {}

        /// Whether there are no values.
        public var isEmpty: Bool { values.isEmpty }

        /// The value of a key; nil if there is none. Set it to nil to remove the value.
        public subscript<Value>(key: Key<Value>) -> Value? {
            // The type is a part of the ID, so the cast of a stored value succeeds.
            get { values[Self.id(key)] as? Value }
            set { values[Self.id(key)] = newValue }
        }

        private static func id<Value>(_ key: Key<Value>) -> ID {
            ID(name: key.name, type: ObjectIdentifier(Value.self))
        }
    }
}
