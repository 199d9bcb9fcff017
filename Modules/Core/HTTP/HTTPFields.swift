/// The header fields of a message: an ordered list in which names may repeat and their case does not matter.
///
/// Source: RFC 9110 section 5.
public struct HTTPFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// One line of a header.
    public struct Field: Sendable, Hashable {
        /// As it was written; names are compared without case.
        public var name: String
        /// Without white space at its ends. Bytes above 127 are the code points U+0080 to U+00FF.
        public var value: String

        /// A line with this name and this value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The lines in order.
    public private(set) var fields: [Field]

    /// Fields in order; by default none.
    public init(_ fields: [Field] = []) { self.fields = fields }

    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field($0.0, $0.1) }
    }

    /// The value of a field: its lines joined by commas (RFC 9110 section 5.3), nil when there is none. Setting
    /// replaces all lines by one; setting nil removes them. O(length of the fields).
    public subscript(name: String) -> String? {
        get {
            var value: String?
            for field in fields where Self.isSame(field.name, name) {
                guard value != nil else {
                    value = field.value
                    continue
                }
                // Appended in place: a new text for each line would make many lines cost the square of their length.
                value? += ", "
                value? += field.value
            }
            return value
        }
        set {
            fields.removeAll { Self.isSame($0.name, name) }
            if let newValue { fields.append(Field(name, newValue)) }
        }
    }

    /// The values of all lines of this name, in order.
    public func values(of name: String) -> [String] {
        fields.lazy.filter { Self.isSame($0.name, name) }.map(\.value)
    }

    /// Adds a line after the others.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name, value))
    }

    /// Whether the comma-separated list of a field has this member, its case and parameters aside.
    public func list(_ name: String, contains member: String) -> Bool {
        values(of: name).contains { line in
            line.split(separator: ",").contains { item in
                let token = item.prefix { $0 != "=" && $0 != ";" }.filter { $0 != " " && $0 != "\t" }
                return Self.isSame(token, member)
            }
        }
    }

    static func isSame(_ a: String, _ b: String) -> Bool {
        a.utf8.count == b.utf8.count && a.utf8.elementsEqual(b.utf8) { lowercase($0) == lowercase($1) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }
}
