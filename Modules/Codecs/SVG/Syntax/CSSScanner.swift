#if SVG
    /// A position in the text of a style sheet.
    struct CSSScanner {
        private let bytes: ArraySlice<UInt8>
        private(set) var position: Int

        init(_ bytes: ArraySlice<UInt8>) {
            self.bytes = bytes
            position = bytes.startIndex
        }

        var peek: UInt8? { peek(0) }

        func peek(_ offset: Int) -> UInt8? {
            position + offset < bytes.endIndex ? bytes[position + offset] : nil
        }

        mutating func skip(_ count: Int) { position = min(bytes.endIndex, position + count) }

        /// Skips a comment, to its end or that of the text.
        mutating func skipComment() {
            skip(2)
            while let byte = peek {
                if byte == UInt8(ascii: "*"), peek(1) == UInt8(ascii: "/") { return skip(2) }
                skip(1)
            }
        }

        /// Consumes a string with its quotes, and returns it. A line break or the end of the text closes it.
        mutating func string() -> [UInt8] {
            guard let quote = peek else { return [] }
            var string = [quote]
            skip(1)
            while let byte = peek, byte != quote, byte != 0x0A {
                string.append(byte)
                skip(1)
                if byte == UInt8(ascii: "\\"), let escaped = peek {
                    string.append(escaped)
                    skip(1)
                }
            }
            skip(1)
            return string + [quote]
        }

        /// Skips a rule that begins with `@`: through its semicolon or its block.
        mutating func skipRule() {
            var depth = 0
            while let byte = peek {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "'"):
                    _ = string()
                    continue
                case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"):
                    skipComment()
                    continue
                case UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "}"): depth -= 1
                default: break
                }
                skip(1)
                if depth <= 0, byte == UInt8(ascii: "}") || byte == UInt8(ascii: ";") { return }
            }
        }

        /// Whether `url(` is next.
        var isURL: Bool {
            zip("url(".utf8, 0...).allSatisfy { expected, offset in peek(offset).map { $0 | 0x20 } == expected | 0x20 }
                && peek(3) == UInt8(ascii: "(")
        }

        /// Consumes the rest of a URL after `url(`, through its parenthesis. Returns the name after `#`, or nil when
        /// the URL is not a fragment or its name has special characters.
        mutating func fragment() -> [UInt8]? {
            skipSpace()
            var url: [UInt8] = []
            if let quote = peek, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                url = Array(string().dropFirst().dropLast())
                while let byte = peek, byte != UInt8(ascii: ")") { skip(1) }
            } else {
                while let byte = peek, byte != UInt8(ascii: ")") {
                    url.append(byte)
                    skip(1)
                }
                while let last = url.last, XMLCharacter.isSpace(last) { url.removeLast() }
            }
            skip(1)
            let special = Array("\"'()\\<>{};,".utf8)
            guard url.first == UInt8(ascii: "#"), url.count > 1,
                url.allSatisfy({ $0 > 0x20 && !special.contains($0) })
            else { return nil }
            return Array(url.dropFirst())
        }

        private mutating func skipSpace() { while let byte = peek, XMLCharacter.isSpace(byte) { skip(1) } }

        /// Returns whether no brace is in a string, in parentheses or in another block, so that rules begin and end at
        /// braces. O(bytes).
        static func hasPlainBraces(_ text: ArraySlice<UInt8>) -> Bool {
            var scanner = CSSScanner(text)
            // The opening brackets that are not closed.
            var open: [UInt8] = []
            while let byte = scanner.peek {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "'"):
                    let string = scanner.string()
                    if string.contains(UInt8(ascii: "{")) || string.contains(UInt8(ascii: "}")) { return false }
                    continue
                case UInt8(ascii: "\\"): scanner.skip(1)
                case UInt8(ascii: "("), UInt8(ascii: "["): open.append(byte)
                case UInt8(ascii: ")"): if open.last == UInt8(ascii: "(") { open.removeLast() }
                case UInt8(ascii: "]"): if open.last == UInt8(ascii: "[") { open.removeLast() }
                case UInt8(ascii: "{"):
                    guard open.isEmpty else { return false }
                    open.append(byte)
                case UInt8(ascii: "}"):
                    guard open.isEmpty || open == [UInt8(ascii: "{")] else { return false }
                    open.removeAll()
                default: break
                }
                scanner.skip(1)
            }
            return true
        }
    }
#endif
