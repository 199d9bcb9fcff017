#if SVG
    /// The value of the functions `calc`, `min`, `max` and `clamp` for a side of the root element: sums, products and
    /// quotients of numbers and lengths. Other functions are invalid. Source: CSS Values and Units 4, section 10.
    struct SVGCalculation {
        /// The number of pixels, or nil when it depends on a percentage.
        let pixels: Double?

        /// The maximum number of nested parentheses and functions.
        private static let maximumDepth = 16

        /// Reads a function. Returns nil for anything else.
        init?(_ text: ArraySlice<UInt8>) {
            let parenthesis = UInt8(ascii: "(")
            let text = text.drop(while: XMLCharacter.isSpace)
            guard text.contains(parenthesis), text.first != parenthesis else { return nil }
            var parser = Parser(text: text)
            guard let value = parser.operand(depth: 0), value.isLength, parser.isAtEnd, value.number.isFinite else {
                return nil
            }
            pixels = value.isRelative ? nil : value.number
        }

        private struct Value {
            var number: Double
            /// Whether the value is a length instead of a number.
            var isLength: Bool
            var isRelative = false
        }

        private struct Parser {
            var text: ArraySlice<UInt8>

            /// Whether nothing but white space is left.
            var isAtEnd: Bool { text.allSatisfy(XMLCharacter.isSpace) }

            /// Reads sums in parentheses, which are separated by commas.
            private mutating func group(depth: Int) -> [Value]? {
                guard depth < SVGCalculation.maximumDepth, take(UInt8(ascii: "(")) else { return nil }
                var sums: [Value] = []
                repeat {
                    guard let next = sum(depth: depth), next.isLength == (sums.first ?? next).isLength else {
                        return nil
                    }
                    sums.append(next)
                } while take(UInt8(ascii: ","))
                return take(UInt8(ascii: ")")) ? sums : nil
            }

            /// Reads a function behind its name, or a sum in parentheses without a name.
            private mutating func function(_ name: ArraySlice<UInt8>, depth: Int) -> Value? {
                guard let sums = group(depth: depth + 1), var result = sums.first else { return nil }
                let numbers = sums.map(\.number)
                switch (String(decoding: name, as: UTF8.self).lowercased(), sums.count) {
                case ("", 1), ("calc", 1): break
                case ("min", _): result.number = numbers.reduce(.infinity, min)
                case ("max", _): result.number = numbers.reduce(-.infinity, max)
                case ("clamp", 3): result.number = max(numbers[0], min(numbers[1], numbers[2]))
                default: return nil
                }
                result.isRelative = sums.contains(where: \.isRelative)
                return result
            }

            private mutating func sum(depth: Int) -> Value? {
                guard var result = product(depth: depth) else { return nil }
                while true {
                    let hadSpace = skipSpace()
                    if text.first == UInt8(ascii: ")") || text.first == UInt8(ascii: ",") { return result }
                    let isSum = take(UInt8(ascii: "+"))
                    // White space around the sign tells it from that of a number.
                    guard hadSpace, isSum || take(UInt8(ascii: "-")), skipSpace(), let next = product(depth: depth),
                        next.isLength == result.isLength
                    else { return nil }
                    result.number += isSum ? next.number : -next.number
                    result.isRelative = result.isRelative || next.isRelative
                }
            }

            private mutating func product(depth: Int) -> Value? {
                guard var result = operand(depth: depth) else { return nil }
                while true {
                    let rest = text
                    skipSpace()
                    if take(UInt8(ascii: "*")) {
                        guard let next = operand(depth: depth), !(result.isLength && next.isLength) else { return nil }
                        result = Value(
                            number: result.number * next.number, isLength: result.isLength || next.isLength,
                            isRelative: result.isRelative || next.isRelative)
                    } else if take(UInt8(ascii: "/")) {
                        guard let next = operand(depth: depth), !next.isLength, next.number != 0 else { return nil }
                        result.number /= next.number
                    } else {
                        text = rest
                        return result
                    }
                }
            }

            mutating func operand(depth: Int) -> Value? {
                skipSpace()
                let ends = Array("()*/,".utf8)
                let word = text.prefix { !XMLCharacter.isSpace($0) && !ends.contains($0) }
                text = text.dropFirst(word.count)
                if text.first == UInt8(ascii: "(") { return function(word, depth: depth) }
                guard let length = SVGLength(word, isOfRoot: true), let last = word.last else { return nil }
                let isNumber = 0x30...0x39 ~= last || last == UInt8(ascii: ".")
                return Value(number: length.value, isLength: !isNumber, isRelative: length.isPercentage)
            }

            private mutating func take(_ byte: UInt8) -> Bool {
                guard text.first == byte else { return false }
                text = text.dropFirst()
                return true
            }

            @discardableResult private mutating func skipSpace() -> Bool {
                let count = text.prefix(while: XMLCharacter.isSpace).count
                text = text.dropFirst(count)
                return count > 0
            }
        }
    }
#endif
