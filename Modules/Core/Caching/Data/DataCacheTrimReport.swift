/// What went when a data cache kept its limits.
public struct DataCacheTrimReport: Sendable, Hashable {
    public enum Reason: String, Sendable {
        /// Its time was over.
        case expired
        case sizeLimit
        case countLimit
        /// The storage was full.
        case noSpace
        /// Somebody asked for a trim to less than the limits.
        case requested
    }

    public struct Removal: Sendable, Hashable {
        /// ``ImageKey/fileName`` of the entry's key.
        public var name: String
        /// In bytes.
        public var size: Int
        public var reason: Reason

        public init(name: String, size: Int, reason: Reason) {
            self.name = name
            self.size = size
            self.reason = reason
        }
    }

    /// In the order in which they went.
    public var removals: [Removal]

    public init(removals: [Removal] = []) { self.removals = removals }

    /// Bytes that became free.
    public var byteCount: Int { removals.reduce(0) { $0 + $1.size } }
}
