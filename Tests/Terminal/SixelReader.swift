import Foundation

/// Decodes a Sixel sequence to pixels like a terminal, by the manual of the VT340 and independently of this module's
/// encoder.
struct SixelReader {
    private(set) var width = 0
    private(set) var height = 0
    /// Red, green and blue in percent, or nil where nothing was drawn.
    private(set) var pixels: [[Int]?] = []

    private var colors: [Int: [Int]] = [:]
    private var current = 0
    private var x = 0
    private var top = 0

    /// Creates nil if the text contains no valid sequence.
    init?(_ text: String) {
        guard let start = text.range(of: "\u{1B}P0;1;0q\"1;1;"),
            let end = text.range(of: "\u{1B}\\", range: start.upperBound..<text.endIndex)
        else { return nil }
        var rest = text[start.upperBound..<end.lowerBound]
        guard let width = Self.number(&rest), Self.take(";", &rest), let height = Self.number(&rest) else { return nil }
        (self.width, self.height) = (width, height)
        pixels = Array(repeating: nil, count: width * height)
        while let character = rest.popFirst() {
            switch character {
            case "#": guard selectColor(&rest) else { return nil }
            case "$": x = 0
            case "-": (x, top) = (0, top + 6)
            case "!":
                guard let count = Self.number(&rest), let next = rest.popFirst(), draw(next, count) else { return nil }
            default: guard draw(character, 1) else { return nil }
            }
        }
    }

    private mutating func selectColor(_ rest: inout Substring) -> Bool {
        guard let index = Self.number(&rest) else { return false }
        current = index
        guard rest.first == ";" else { return colors[index] != nil }
        var numbers: [Int] = []
        while Self.take(";", &rest) {
            guard let number = Self.number(&rest) else { return false }
            numbers.append(number)
        }
        guard numbers.count == 4, numbers[0] == 2, numbers.allSatisfy({ $0 <= 100 }) else { return false }
        colors[index] = Array(numbers.dropFirst())
        return index < 256
    }

    private mutating func draw(_ character: Character, _ count: Int) -> Bool {
        guard let value = character.asciiValue, (63...126).contains(value), x + count <= width else { return false }
        for column in x..<x + count {
            for bit in 0..<6 where (value - 63) >> bit & 1 == 1 {
                guard top + bit < height else { return false }
                pixels[(top + bit) * width + column] = colors[current]
            }
        }
        x += count
        return true
    }

    private static func take(_ character: Character, _ rest: inout Substring) -> Bool {
        guard rest.first == character else { return false }
        rest.removeFirst()
        return true
    }

    private static func number(_ rest: inout Substring) -> Int? {
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        rest.removeFirst(digits.count)
        return Int(digits)
    }
}
