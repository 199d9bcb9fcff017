/// A validator that the server made up. Source: RFC 9110 section 8.8.3.
///
/// A tag without quotes, which some servers send, is taken as it is spelled: it is the same as itself and nothing else.
package struct EntityTag: Equatable {
    /// As it is sent, with its quotes and the `W/` of a weak one.
    package let text: String

    /// Nil unless `text` is one tag.
    package init?(_ text: String) {
        let opaque = text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
        guard !opaque.isEmpty, opaque.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        let inside: Substring.UTF8View
        if opaque.utf8.first == 0x22 {
            guard opaque.utf8.count >= 2, opaque.utf8.last == 0x22 else { return nil }
            inside = opaque.dropFirst().dropLast().utf8
        } else {
            guard !opaque.utf8.contains(UInt8(ascii: ",")), opaque != "*" else { return nil }
            inside = opaque.utf8
        }
        guard !inside.contains(0x22) else { return nil }
        self.text = text
    }

    package var isWeak: Bool { text.hasPrefix("W/") }

    /// Whether the tags are the same but for weakness. RFC 9110 section 8.8.3.2.
    package func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }

    /// Whether the tags are the same and neither is weak. RFC 9110 section 8.8.3.2.
    package func matchesStrongly(_ other: EntityTag) -> Bool { !isWeak && self == other }

    private var opaque: Substring { isWeak ? text.dropFirst(2) : text[...] }
}
