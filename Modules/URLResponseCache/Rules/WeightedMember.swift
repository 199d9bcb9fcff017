import AlcedoCore

/// A member of a list such as `Accept-Language`, with its weight. Source: RFC 9110 section 12.4.2.
struct WeightedMember: Comparable {
    private let name: String
    /// In thousandths.
    private let weight: Int

    init(_ text: Substring) {
        let parts = text.lowercased().split(separator: ";").map { String($0.trimmedOfBlanks) }
        let last = parts.last ?? ""
        if parts.count > 1, last.hasPrefix("q="), let number = Double(last.dropFirst(2)), (0...1).contains(number) {
            weight = Int((number * 1_000).rounded())
            name = parts.dropLast().joined(separator: ";")
        } else {
            weight = 1_000
            name = parts.joined(separator: ";")
        }
    }

    var text: String { weight == 1_000 ? name : "\(name);q=\(weight)" }

    /// The heavier first.
    static func < (a: Self, b: Self) -> Bool { (-a.weight, a.name) < (-b.weight, b.name) }
}
