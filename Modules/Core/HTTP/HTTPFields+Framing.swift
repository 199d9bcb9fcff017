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
            let digits = member.trimmedOfBlanks
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
            .map { $0.trimmedOfBlanks.lowercased() }.first { !$0.isEmpty && !known.contains($0) }
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
        if lines.count > 1 || lines != [String(first)] { framed["Content-Length"] = String(first.trimmedOfBlanks) }
        return framed
    }

    /// Whether there is one length that is a number and nothing else, or no length, and no transfer coding but
    /// `chunked`. Most responses are so; allocates nothing.
    private var isPlainlyFramed: Bool {
        var length: String.UTF8View?
        var isTransferEncoded = false
        for field in fields {
            if Self.isSame(field.name, "Content-Length") {
                if length != nil { return false }
                length = field.value.utf8
            } else if Self.isSame(field.name, "Transfer-Encoding") {
                guard Self.isSame(field.value, "chunked") else { return false }
                isTransferEncoded = true
            }
        }
        guard let length else { return true }
        // So many digits are an `Int` whatever they are.
        return !isTransferEncoded && (1...18).contains(length.count) && length.allSatisfy { (0x30...0x39).contains($0) }
    }
}
