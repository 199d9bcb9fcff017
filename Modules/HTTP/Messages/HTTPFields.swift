import AlcedoRuntime

/// The header fields of a message: an ordered list in which names may repeat. Names are compared without case.
///
/// ```swift
/// for field in response.head.fields { print(field.name, field.value) }
/// let type = response.head.fields["Content-Type"]
/// ```
///
/// Source: RFC 9110 section 5.
public struct HTTPFields: Sendable, Hashable, ExpressibleByDictionaryLiteral, Sequence, CustomStringConvertible {
    /// One field line of a header.
    public struct Field: Sendable, Hashable {
        /// The name in its original case. Names are compared without case.
        public var name: String
        /// The value. White space at the ends of a received value has been removed. Bytes above 127 are represented as
        /// the code points U+0080 to U+00FF.
        public var value: String

        /// Creates a field line.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }

        /// Whether two lines have the same bytes. Values that are canonically equivalent in Unicode but differ in bytes
        /// are different for a server.
        public static func == (a: Field, b: Field) -> Bool {
            a.name.hasSameBytes(as: b.name) && a.value.hasSameBytes(as: b.value)
        }
    }

    /// The field lines in order.
    package private(set) var fields: [Field]

    /// Creates fields from lines in order; by default none.
    public init(_ fields: [Field] = []) { self.fields = fields }

    /// Creates fields from names and values, in order.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field($0.0, $0.1) }
    }

    /// Returns an iterator over the field lines, in order.
    public func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }

    /// The field lines in order, separated by commas. The values of credentials and cookies are replaced by `...`, so
    /// that they do not appear in logs.
    public var description: String {
        let secret: Set = ["authorization", "cookie", "proxy-authorization", "set-cookie"]
        let lines = fields.map { "\($0.name): \(secret.contains($0.name.lowercased()) ? "..." : $0.value)" }
        return "[\(lines.joined(separator: ", "))]"
    }

    /// The value of a field: the values of its lines, joined by commas (RFC 9110 section 5.3); nil if the field is
    /// missing. Setting a value removes all lines of the field and appends one line. Setting nil removes all lines of
    /// the field.
    ///
    /// - Complexity: O(*n*), where *n* is the number of lines.
    public subscript(name: String) -> String? {
        get {
            var value: String?
            for field in fields where Self.areEqual(field.name, name) {
                guard value != nil else {
                    value = field.value
                    continue
                }
                // Appended in place: a new string for each line would make the cost quadratic in the number of lines.
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

    /// Returns the values of all lines with this name, in order.
    public func values(of name: String) -> [String] {
        fields.lazy.filter { Self.areEqual($0.name, name) }.map(\.value)
    }

    /// Appends a line after the others.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name, value))
    }

    /// Returns whether the comma-separated list of a field contains a member, without regard to case and parameters.
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
    /// The length that the `Content-Length` field declares. Source: RFC 9110 section 8.6.
    package enum DeclaredLength: Equatable {
        case none
        /// One number, which the field may repeat.
        case bytes(Int)
        /// An invalid number, several different numbers, or a number that exceeds `Int`.
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

    /// The first transfer coding that no transport can decode; nil if there is none. Source: RFC 9112 section 7.
    package var unknownTransferCoding: String? {
        let known: Set = ["chunked", "deflate", "gzip", "x-gzip", "identity"]
        return values(of: "Transfer-Encoding").lazy.flatMap { $0.split(separator: ",") }
            .map { $0.trimmingBlanks.lowercased() }.first { !$0.isEmpty && !known.contains($0) }
    }

    /// Returns the fields with at most one `Content-Length`, which is the length of the body. The field is removed if a
    /// `Transfer-Encoding` is present, and equal values are merged. Source: RFC 9112 section 6.3.
    ///
    /// - Throws: ``HTTPTransportError`` `invalidResponse` if the end of the body cannot be determined, or the body
    ///   cannot be decoded because a transfer coding is unknown.
    package func framed() throws(HTTPTransportError) -> HTTPFields {
        if isPlainlyFramed { return self }
        if let coding = unknownTransferCoding {
            throw HTTPTransportError(
                .invalidResponse, "unknown transfer coding: \(coding.prefix(100).debugDescription)")
        }
        let lines = values(of: "Content-Length")
        var framed = self
        if !values(of: "Transfer-Encoding").isEmpty {
            framed["Content-Length"] = nil
            return framed
        }
        guard case .bytes = declaredLength, let first = lines.first?.split(separator: ",").first else {
            throw HTTPTransportError(
                .invalidResponse,
                "invalid Content-Length: \(lines.joined(separator: ", ").prefix(100).debugDescription)")
        }
        if lines.count > 1 || lines != [String(first)] { framed["Content-Length"] = String(first.trimmingBlanks) }
        return framed
    }

    /// Whether ``framed()`` returns the fields unchanged, because they have one `Content-Length` that is a plain
    /// number, or only the transfer coding `chunked`, or neither. Most responses have this form. Allocates no memory.
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
        // Numbers with up to 18 digits always fit an `Int`.
        return !isTransferEncoded && (1...18).contains(length.count) && length.allSatisfy { (0x30...0x39).contains($0) }
    }
}
