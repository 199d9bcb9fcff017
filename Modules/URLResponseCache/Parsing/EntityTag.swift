/// A validator that the server made up. Source: RFC 9110 section 8.8.3.
struct EntityTag: Equatable {
    /// As it is sent, with its quotes and the `W/` of a weak one.
    let text: String

    /// Nil unless `text` is one tag.
    init?(_ text: String) {
        let opaque = text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
        guard opaque.utf8.count >= 2, opaque.utf8.first == 0x22, opaque.utf8.last == 0x22 else { return nil }
        let inside = opaque.utf8.dropFirst().dropLast()
        guard inside.allSatisfy({ $0 > 0x20 && $0 != 0x22 && $0 != 0x7F }) else { return nil }
        self.text = text
    }

    private var opaque: Substring { isWeak ? text.dropFirst(2) : text[...] }

    private var isWeak: Bool { text.hasPrefix("W/") }

    /// Whether an answer with this tag is about the content that has the other one: the same tag when this one is
    /// strong, the same but for weakness when it is weak (RFC 9111 section 4.3.4).
    func confirms(_ other: EntityTag) -> Bool { self == other || (isWeak && opaque == other.opaque) }
}
