#if SVG
    import AlcedoCore

    /// The declarations of a document's style sheets for its root element.
    ///
    /// Only the selectors `svg` and `:root` count, outside of rules that begin with `@`. The size of a document must be
    /// known before its first style sheet is read, so a document with such a selector is parsed twice.
    struct RootStyle: XMLHandler {
        private var namespaces = SVGNamespaces()
        private var openCount = 0
        /// The text of the open style sheet, and the number of elements around its content.
        private var sheet: (text: [UInt8], depth: Int)?
        /// The declarations for the type of the root element, and those of `:root`, which take precedence.
        private var declarations: (type: [UInt8], root: [UInt8]) = ([], [])

        /// Returns the declarations, of which the last ones take precedence. Empty for most documents. O(bytes).
        static func declarations(in text: XMLText) -> [UInt8] {
            guard text.bytes.withUnsafeBufferPointer(mayHaveSelector) else { return [] }
            var parser = XMLParser(RootStyle())
            // The sanitizer finds the same errors.
            try? parser.parse(text)
            return parser.handler.declarations.type + parser.handler.declarations.root
        }

        /// Returns whether a selector for the root element occurs before a brace or a comma.
        private static func mayHaveSelector(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
            let endings = [Array("svg".utf8), Array("root".utf8)]
            for index in bytes.indices where bytes[index] == UInt8(ascii: "{") || bytes[index] == UInt8(ascii: ",") {
                var end = index
                while end > 0, XMLCharacter.isSpace(bytes[end - 1]) { end -= 1 }
                for ending in endings where bytes[..<end].suffix(ending.count).elementsEqual(ending) { return true }
            }
            return false
        }

        mutating func startElement(_ name: String, _ attributes: [XMLAttribute]) {
            namespaces.open(attributes)
            openCount += 1
            guard sheet == nil, namespaces.svgName(name) == "style" else { return }
            let applies = attributes.allSatisfy { attribute in
                let value = String(decoding: attribute.value, as: UTF8.self).lowercased()
                return switch attribute.name {
                case "media": ["", "all", "screen"].contains(value)
                case "type": ["", "text/css"].contains(value)
                default: true
                }
            }
            if applies { sheet = ([], openCount) }
        }

        mutating func characters(_ text: ArraySlice<UInt8>) {
            if sheet?.depth == openCount { sheet?.text += text }
        }

        mutating func endElement() {
            namespaces.close()
            defer { openCount -= 1 }
            guard let sheet, sheet.depth == openCount else { return }
            self.sheet = nil
            let text = CSSText.sanitized(sheet.text[...])
            guard CSSScanner.hasPlainBraces(text[...]) else { return }
            for rule in text.split(separator: UInt8(ascii: "}")) {
                guard let brace = rule.firstIndex(of: UInt8(ascii: "{")) else { continue }
                let selectors = rule[..<brace].split(separator: UInt8(ascii: ",")).map { selector in
                    String(decoding: selector, as: UTF8.self).filter { !$0.isWhitespace }
                }
                let style = rule[(brace + 1)...] + [UInt8(ascii: ";")]
                if selectors.contains(where: { [":root", "svg:root"].contains($0.lowercased()) }) {
                    declarations.root += style
                } else if selectors.contains("svg") {
                    declarations.type += style
                }
            }
        }
    }
#endif
