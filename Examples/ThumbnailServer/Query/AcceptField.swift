/// What a client says it can show. Source: RFC 9110 section 12.5.1.
struct AcceptField {
    private let text: String?

    init(_ text: String?) { self.text = text }

    /// Whether a type is named, with a weight above nought. Ranges such as `image/*` do not name it: old browsers say them
    /// and mean the formats of their day.
    func names(_ type: String) -> Bool {
        guard let text else { return false }
        return text.split(separator: ",").contains { member in
            let parts = member.split(separator: ";", omittingEmptySubsequences: false)
            guard let name = parts.first, Self.trimmed(name).lowercased() == type else { return false }
            let weights = parts.dropFirst().map { Self.trimmed($0).lowercased() }.filter { $0.hasPrefix("q=") }
            // A weight that is none counts as nought: what cannot be read is not promised.
            return weights.allSatisfy { (Double($0.dropFirst(2)) ?? 0) > 0 }
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        guard let end = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return start[...end]
    }
}
