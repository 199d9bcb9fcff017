import Alcedo

/// Reads the words that parameters of processors are made of; nil for those that make no sense.
enum ProcessorWords {
    static let anchors: [String: Anchor] = [
        "centre": .center, "center": .center, "top": .top, "bottom": .bottom, "left": .left, "right": .right,
        "topLeft": .topLeft, "topRight": .topRight, "bottomLeft": .bottomLeft, "bottomRight": .bottomRight,
    ]

    /// The word, if it is the only one.
    static func only(_ words: [String]) -> String? { words.count == 1 ? words[0] : nil }

    /// A plain decimal number.
    static func number(_ word: some StringProtocol, in range: ClosedRange<Double>) -> Double? {
        // Double would take "1e3", "0x10" and "inf" too.
        let isPlain = word.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x2D }
        guard isPlain, let number = Double(word), range.contains(number) else { return nil }
        return number
    }

    static func side(_ word: some StringProtocol) -> Int? {
        Int(word).flatMap { (1...65_535).contains($0) ? $0 : nil }
    }

    static func place(_ word: String) -> Int? { Int(word).flatMap { (0...65_535).contains($0) ? $0 : nil } }

    static func size(_ word: String, separator: Character) -> PixelSize? {
        let sides = word.split(separator: separator, omittingEmptySubsequences: false)
        guard sides.count == 2, let width = side(sides[0]), let height = side(sides[1]) else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// Six or eight hexadecimal digits, perhaps after a `#`.
    static func color(_ word: String) -> PixelColor? {
        let digits = word.hasPrefix("#") ? word.dropFirst() : word[...]
        guard digits.utf8.count == 6 || digits.utf8.count == 8, digits.allSatisfy(\.isHexDigit),
            let value = UInt32(digits, radix: 16)
        else { return nil }
        let bits = digits.utf8.count == 6 ? value << 8 | 0xFF : value
        return PixelColor(
            red: UInt8(truncatingIfNeeded: bits >> 24), green: UInt8(truncatingIfNeeded: bits >> 16),
            blue: UInt8(truncatingIfNeeded: bits >> 8), alpha: UInt8(truncatingIfNeeded: bits))
    }
}
