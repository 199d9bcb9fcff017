extension Substring {
    package static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }

    /// Without spaces and tabs at the ends.
    package var trimmedOfBlanks: Substring {
        var trimmed = drop(while: Self.isBlank)
        while let last = trimmed.last, Self.isBlank(last) { trimmed.removeLast() }
        return trimmed
    }
}
