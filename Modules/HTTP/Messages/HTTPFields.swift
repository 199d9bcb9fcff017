/// The header fields of a message: an ordered list in which names may repeat and their case does not matter.
///
/// ```swift
/// for field in response.fields { print(field.name, field.value) }
/// let type = response.fields["Content-Type"]
/// ```
///
/// Source: RFC 9110 section 5.
public struct HTTPFields: Sendable, Hashable, ExpressibleByDictionaryLiteral, Sequence, CustomStringConvertible {
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
    package private(set) var fields: [Field]

    /// Fields in order; by default none.
    public init(_ fields: [Field] = []) { self.fields = fields }

    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field($0.0, $0.1) }
    }

    public func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }

    /// The lines in order, separated by commas. The values of credentials and cookies are not shown, so that they do not
    /// get into logs.
    public var description: String {
        let secret: Set = ["authorization", "cookie", "proxy-authorization", "set-cookie"]
        let lines = fields.map { "\($0.name): \(secret.contains($0.name.lowercased()) ? "..." : $0.value)" }
        return "[\(lines.joined(separator: ", "))]"
    }

    /// The value of a field: its lines joined by commas (RFC 9110 section 5.3), nil when there is none. Setting
    /// replaces all lines by one; setting nil removes them. O(length of the fields).
    public subscript(name: String) -> String? {
        get {
            var value: String?
            for field in fields where Self.areEqual(field.name, name) {
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
            fields.removeAll { Self.areEqual($0.name, name) }
            if let newValue { fields.append(Field(name, newValue)) }
        }
    }

    /// The values of all lines of this name, in order.
    public func values(of name: String) -> [String] {
        fields.lazy.filter { Self.areEqual($0.name, name) }.map(\.value)
    }

    /// Adds a line after the others.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name, value))
    }

    /// Whether the comma-separated list of a field has this member, its case and parameters aside.
    package func list(_ name: String, contains member: String) -> Bool {
        values(of: name).contains { line in
            line.split(separator: ",").contains { item in
                let token = item.prefix { $0 != "=" && $0 != ";" }.filter { $0 != " " && $0 != "\t" }
                return Self.areEqual(token, member)
            }
        }
    }

    static func areEqual(_ a: String, _ b: String) -> Bool {
        a.utf8.count == b.utf8.count && a.utf8.elementsEqual(b.utf8) { lowercase($0) == lowercase($1) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }
}

extension HTTPFields {
    /// What `Content-Length` says. Source: RFC 9110 section 8.6.
    package enum DeclaredLength: Equatable {
        case none
        /// One number, in however many members.
        case bytes(Int)
        /// No number, several that differ, or more than there can be.
        case invalid
    }

    package var declaredLength: DeclaredLength {
        let lines = values(of: "Content-Length")
        guard !lines.isEmpty else { return .none }
        var found: DeclaredLength = .none
        for member in lines.joined(separator: ",").split(separator: ",", omittingEmptySubsequences: false) {
            let digits = member.trimmingBlanks
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(digits),
                found == .none || found == .bytes(count)
            else { return .invalid }
            found = .bytes(count)
        }
        return found
    }

    /// The first transfer coding that no transport undoes; nil when there is none. Source: RFC 9112 section 7.
    package var unknownTransferCoding: String? {
        let known: Set = ["chunked", "deflate", "gzip", "x-gzip", "identity"]
        return values(of: "Transfer-Encoding").lazy.flatMap { $0.split(separator: ",") }
            .map { $0.trimmingBlanks.lowercased() }.first { !$0.isEmpty && !known.contains($0) }
    }

    /// The fields with one length at most, which is that of the body: none beside a `Transfer-Encoding`, and equal ones
    /// as one. Source: RFC 9112 section 6.3.
    ///
    /// - Throws: ``HTTPTransportError`` `invalidResponse` when nobody knows where the body ends, or what its bytes are
    ///   because a transfer coding is unknown.
    package func framed() throws(HTTPTransportError) -> HTTPFields {
        if isPlainlyFramed { return self }
        if let coding = unknownTransferCoding {
            throw HTTPTransportError(
                .invalidResponse, "an unknown transfer coding: \(coding.prefix(100).debugDescription)")
        }
        let lines = values(of: "Content-Length")
        var framed = self
        if !values(of: "Transfer-Encoding").isEmpty {
            framed["Content-Length"] = nil
            return framed
        }
        guard case .bytes = declaredLength, let first = lines.first?.split(separator: ",").first else {
            throw HTTPTransportError(
                .invalidResponse, "not a Content-Length: \(lines.joined(separator: ", ").prefix(100).debugDescription)")
        }
        if lines.count > 1 || lines != [String(first)] { framed["Content-Length"] = String(first.trimmingBlanks) }
        return framed
    }

    /// Whether there is one length that is a number and nothing else, or no length, and no transfer coding but
    /// `chunked`. Most responses are so; allocates nothing.
    private var isPlainlyFramed: Bool {
        var length: String.UTF8View?
        var isTransferEncoded = false
        for field in fields {
            if Self.areEqual(field.name, "Content-Length") {
                if length != nil { return false }
                length = field.value.utf8
            } else if Self.areEqual(field.name, "Transfer-Encoding") {
                guard Self.areEqual(field.value, "chunked") else { return false }
                isTransferEncoded = true
            }
        }
        guard let length else { return true }
        // So many digits are an `Int` whatever they are.
        return !isTransferEncoded && (1...18).contains(length.count) && length.allSatisfy { (0x30...0x39).contains($0) }
    }
}
