#if SVG
    /// The removal of everything from style sheets and property values that could refer to something outside a
    /// document. Source: CSS Syntax 3.
    enum CSSText {
        /// Returns the text without comments and without rules that begin with `@`. A URL that is not a fragment of the
        /// document becomes the fragment `#-`, which no element has.
        ///
        /// Outside strings, escaped letters are replaced, because they could hide the name of a function. O(bytes).
        static func sanitized(_ text: ArraySlice<UInt8>) -> [UInt8] {
            var scanner = CSSScanner(text)
            var output: [UInt8] = []
            output.reserveCapacity(text.count)
            while let byte = scanner.peek {
                switch byte {
                case UInt8(ascii: "/") where scanner.peek(1) == UInt8(ascii: "*"): scanner.skipComment()
                case UInt8(ascii: "\""), UInt8(ascii: "'"): output += scanner.string()
                case UInt8(ascii: "@"): scanner.skipRule()
                case UInt8(ascii: "\\"):
                    scanner.skip(1)
                    guard let escaped = scanner.peek else { return output }
                    scanner.skip(1)
                    output += isSafeEscape(escaped) ? [byte, escaped] : [UInt8(ascii: "_")]
                case UInt8(ascii: "u"), UInt8(ascii: "U"):
                    if scanner.isURL {
                        scanner.skip(4)
                        output += "url(#".utf8
                        output += scanner.fragment() ?? [UInt8(ascii: "-")]
                        output.append(UInt8(ascii: ")"))
                    } else {
                        scanner.skip(1)
                        output.append(byte)
                    }
                default:
                    scanner.skip(1)
                    output.append(byte)
                }
            }
            return output
        }

        /// Returns the declarations of the attribute `style`, which semicolons outside strings and parentheses
        /// separate. O(bytes).
        static func declarations(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
            var scanner = CSSScanner(text)
            var (result, start, depth): ([ArraySlice<UInt8>], Int, Int) = ([], text.startIndex, 0)
            while let byte = scanner.peek {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "'"):
                    _ = scanner.string()
                    continue
                case UInt8(ascii: "\\"): scanner.skip(1)
                case UInt8(ascii: "("): depth += 1
                case UInt8(ascii: ")"): depth = max(0, depth - 1)
                case UInt8(ascii: ";") where depth == 0:
                    result.append(text[start..<scanner.position])
                    start = scanner.position + 1
                default: break
                }
                scanner.skip(1)
            }
            return result + (start < text.endIndex ? [text[start...]] : [])
        }

        /// Returns whether the escape of a byte outside strings cannot be part of the name of a function or a rule. A
        /// letter, or a hexadecimal number that may stand for one, can.
        private static func isSafeEscape(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "!")...UInt8(ascii: "/"), UInt8(ascii: ":")...UInt8(ascii: "?"): byte != UInt8(ascii: "(")
            default: byte >= 0x80
            }
        }
    }
#endif
