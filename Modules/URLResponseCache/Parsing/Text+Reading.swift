extension Substring {
    static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }

    /// Without spaces and tabs at the ends.
    var trimmedOfBlanks: Substring {
        var trimmed = drop(while: Self.isBlank)
        while let last = trimmed.last, Self.isBlank(last) { trimmed.removeLast() }
        return trimmed
    }
}

extension String {
    /// Whether this is a token, such as a field's name. Source: RFC 9110 section 5.6.2.
    var isToken: Bool { !isEmpty && utf8.allSatisfy { Self.tokenBytes.contains($0) } }

    private static let tokenBytes = Set(
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
}
