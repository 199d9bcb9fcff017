extension ImageKey {
    /// The additional identifier under which AFNetworking and AlamofireImage would store this variant; nil for none, as
    /// the original has.
    ///
    /// When the request has processors, an additional identifier, or both, and else only defaults, these are the
    /// processors' identifiers, joined by "_" as AlamofireImage joins those of its filters, followed by the
    /// additional identifier. The version of a local file has no part in it. Any other variant is its own identifier.
    /// Two variants may share an identifier. O(length of the variant).
    package var additionalIdentifier: String? {
        guard !variant.isEmpty else { return nil }
        guard let parts else { return variant }
        var processors: [Substring] = []
        var own: Substring = ""
        for part in parts {
            if part.hasPrefix("process=") {
                processors.append(part.dropFirst("process=".count))
            } else if part.hasPrefix("id=") {
                own = part.dropFirst("id=".count)
            } else if !part.hasPrefix("file=") {
                return variant
            }
        }
        let identifier = processors.joined(separator: "_") + own
        return identifier.isEmpty ? nil : identifier
    }

    /// The parts of a variant as ``ImageRequest`` spells it; nil for any other spelling.
    private var parts: [Substring]? {
        var parts: [Substring] = []
        var rest = Substring(variant)
        while true {
            guard let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":")), let length = Int(rest[..<colon]) else {
                return nil
            }
            let start = rest.utf8.index(after: colon)
            guard length >= 0, length <= rest[start...].utf8.count else { return nil }
            let end = rest.utf8.index(start, offsetBy: length)
            parts.append(rest[start..<end])
            rest = rest[end...]
            guard rest.utf8.first == UInt8(ascii: ";") else { return rest.isEmpty ? parts : nil }
            rest = Substring(rest.utf8.dropFirst())
        }
    }
}
