#if SVG
    /// A reader of the numbers in attributes. Source: SVG 1.1, section 8.3.9.
    struct SVGNumbers {
        private let bytes: ArraySlice<UInt8>
        private var position: Int

        init(_ bytes: ArraySlice<UInt8>) {
            self.bytes = bytes
            position = bytes.startIndex
        }

        /// The next byte after white space and commas, or nil at the end.
        var peek: UInt8? {
            mutating get {
                while position < bytes.endIndex, XMLCharacter.isSpace(bytes[position]) || bytes[position] == 0x2C {
                    position += 1
                }
                return position < bytes.endIndex ? bytes[position] : nil
            }
        }

        /// Consumes one byte.
        mutating func skip() { position += 1 }

        /// Returns the next number, or nil when something else is next. Digits after the 18th count as zero.
        mutating func next() -> Double? {
            guard let first = peek else { return nil }
            let start = position
            let isNegative = first == UInt8(ascii: "-")
            if isNegative || first == UInt8(ascii: "+") { position += 1 }
            var number = Decimal()
            while let digit { number.append(digit, isFraction: false) }
            if byte == UInt8(ascii: ".") {
                position += 1
                while let digit { number.append(digit, isFraction: true) }
            }
            guard number.hasDigits else {
                position = start
                return nil
            }
            number.exponent += exponent()
            return isNegative ? -number.value : number.value
        }

        /// Returns the next flag of an arc: one digit, which need not be separated from the next number.
        mutating func nextFlag() -> Bool? {
            guard let digit = peek, digit == UInt8(ascii: "0") || digit == UInt8(ascii: "1") else { return nil }
            position += 1
            return digit == UInt8(ascii: "1")
        }

        /// The unread bytes, without white space at the beginning.
        var rest: ArraySlice<UInt8> {
            mutating get {
                _ = peek
                return bytes[position...]
            }
        }

        private var byte: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

        /// Consumes a digit, and returns its value.
        private var digit: UInt64? {
            mutating get {
                guard let byte, 0x30...0x39 ~= byte else { return nil }
                position += 1
                return UInt64(byte - 0x30)
            }
        }

        /// Consumes an exponent, and returns its value; 0 when there is none.
        private mutating func exponent() -> Int {
            guard let letter = byte, letter | 0x20 == UInt8(ascii: "e") else { return 0 }
            let start = position
            position += 1
            let isNegative = byte == UInt8(ascii: "-")
            if isNegative || byte == UInt8(ascii: "+") { position += 1 }
            guard let first = digit else {
                // The letter belongs to a unit, such as em.
                position = start
                return 0
            }
            var value = Int(first)
            while let digit { value = min(value * 10 + Int(digit), 10_000) }
            return isNegative ? -value : value
        }
    }

    private struct Decimal {
        private var mantissa: UInt64 = 0
        private(set) var hasDigits = false
        var exponent = 0

        /// Adds a digit after the others.
        mutating func append(_ digit: UInt64, isFraction: Bool) {
            hasDigits = true
            if mantissa < 100_000_000_000_000_000 {
                mantissa = mantissa * 10 + digit
                if isFraction { exponent -= 1 }
            } else if !isFraction {
                exponent += 1
            }
        }

        /// The value. Exact for at most 15 digits and a small exponent.
        var value: Double {
            let digits = Double(mantissa)
            switch exponent {
            case 0: return digits
            case -22..<0: return digits / Self.powers[-exponent]
            case 1...22: return digits * Self.powers[exponent]
            default: return mantissa == 0 ? 0 : digits * Self.power(exponent)
            }
        }

        /// The powers of 10 that are exact.
        private static let powers = (0...22).map(power)

        /// Returns a power of 10, infinity when it is too large, and 0 when it is too small.
        private static func power(_ exponent: Int) -> Double {
            guard exponent >= 0 else { return 1 / power(-exponent) }
            guard exponent <= 400 else { return .infinity }
            var result = 1.0
            for _ in 0..<exponent { result *= 10 }
            return result
        }
    }

    /// A length with its unit. Source: CSS Values and Units, section 6.
    struct SVGLength {
        /// The number of pixels, or for a percentage the fraction of the reference length.
        let value: Double
        let isPercentage: Bool
        /// Whether the unit is relative to the size of a font.
        let isOfFont: Bool

        /// Reads a length. Returns nil for anything else. A font has 16 pixels, also that of the root element.
        ///
        /// - Parameter isOfRoot: Whether the length is a side of the root element, which is written in pixels. librsvg
        ///   has no units `rem` and `Q`, so lengths with them are invalid elsewhere. Default: false.
        init?(_ text: ArraySlice<UInt8>, isOfRoot: Bool = false) {
            var numbers = SVGNumbers(text)
            guard let number = numbers.next(), number.isFinite else { return nil }
            let unit = numbers.rest.prefix { !XMLCharacter.isSpace($0) }
            let isAlone = numbers.rest.dropFirst(unit.count).allSatisfy(XMLCharacter.isSpace)
            guard isAlone, let factor = Self.factor(unit, isOfRoot: isOfRoot) else { return nil }
            value = number * factor
            isPercentage = unit.first == UInt8(ascii: "%")
            isOfFont = ["em", "ex", "ch"].contains(String(decoding: unit.map { $0 | 0x20 }, as: UTF8.self))
        }

        /// Returns the number of pixels of a unit, whose letters are in lower or upper case; 1 when there is none.
        private static func factor(_ unit: ArraySlice<UInt8>, isOfRoot: Bool) -> Double? {
            guard unit.count <= 3 else { return nil }
            return switch String(decoding: unit.map { $0 | 0x20 }, as: UTF8.self) {
            case "", "px": 1
            case "%": 0.01
            case "in": 96
            case "cm": 96 / 2.54
            case "mm": 96 / 25.4
            case "q" where isOfRoot: 96 / 101.6
            case "pt": 96 / 72
            case "rem" where isOfRoot: 16
            case "pc", "em": 16
            case "ex", "ch": 8
            default: nil
            }
        }

        /// Returns the number of pixels for a reference length.
        func pixels(of reference: Double) -> Double { isPercentage ? value * reference : value }
    }

    /// A rectangle of the attribute `viewBox`.
    struct SVGViewBox {
        let width: Double
        let height: Double

        /// Reads a rectangle. Returns nil when it is invalid or negative.
        init?(_ text: ArraySlice<UInt8>) {
            var numbers = SVGNumbers(text)
            guard let x = numbers.next(), let y = numbers.next(), let width = numbers.next(),
                let height = numbers.next(), x.isFinite, y.isFinite, width.isFinite, height.isFinite, width >= 0,
                height >= 0, numbers.peek == nil
            else { return nil }
            (self.width, self.height) = (width, height)
        }
    }
#endif
