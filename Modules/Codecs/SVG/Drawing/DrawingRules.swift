#if SVG
    import AlcedoCore

    /// The rules of the style sheets of a document that determine how much work it is to draw its elements.
    ///
    /// A rule counts for every element that has the last class, identifier or type of one of its selectors, so no
    /// element is estimated too low.
    struct DrawingRules {
        private var byKey: [String: DrawingProperties] = [:]
        /// The properties that may apply to every element.
        private var universal = DrawingProperties()
        private(set) var selectorCount = 0
        /// The work of comparing selectors with elements.
        private(set) var selectors = SelectorWork()
        /// The values of properties that select a font.
        private(set) var fonts: Set<FontValue> = []
        /// The number of bytes of all style sheets.
        private(set) var byteCount = 0
        /// The number of references to elements, counted for each selector.
        private var referenceCount = 0

        private static let maximumSelectorCount = 20_000
        /// The maximum number of references in the style sheets of a document.
        private static let maximumReferenceCount = 100_000

        var isEmpty: Bool { byKey.isEmpty && universal.isEmpty }

        /// Adds the rules of a style sheet without comments and rules that begin with `@`.
        ///
        /// - Throws: `exceedsLimit` for too many selectors or references.
        mutating func add(_ text: [UInt8], viewport: Double) throws(ImageDecodingError) {
            // Otherwise a rule may continue after its first closing brace, so all declarations count for every element.
            let isPlain = CSSScanner.hasPlainBraces(text[...])
            byteCount += text.count
            for rule in text.split(separator: UInt8(ascii: "}")) {
                let brace = rule.firstIndex(of: UInt8(ascii: "{"))
                guard brace != nil || !isPlain else { continue }
                let open = brace ?? rule.startIndex
                var properties = DrawingProperties()
                properties.add(declarations: isPlain ? rule[open...] : rule, viewport: viewport)
                properties.declarationCount = 1 + Double(rule.count { $0 == UInt8(ascii: ";") })
                fonts.formUnion(properties.fonts)
                let selectors = rule[..<open].split(separator: UInt8(ascii: ","))
                try self.selectors.add(isPlain ? rule[..<open] : rule)
                selectorCount += selectors.count
                guard selectorCount <= Self.maximumSelectorCount else {
                    throw ImageDecodingError(.exceedsLimit, "SVG: more than \(Self.maximumSelectorCount) selectors")
                }
                guard !properties.isEmpty else { continue }
                referenceCount += properties.referenceCount * (isPlain ? selectors.count : 1)
                guard referenceCount <= Self.maximumReferenceCount else {
                    throw ImageDecodingError(
                        .exceedsLimit, "SVG: more than \(Self.maximumReferenceCount) references in style sheets")
                }
                guard isPlain else {
                    universal.add(properties)
                    continue
                }
                for selector in selectors { add(properties, for: selector) }
            }
        }

        private mutating func add(_ properties: DrawingProperties, for selector: ArraySlice<UInt8>) {
            guard let key = Self.key(selector) else { return universal.add(properties) }
            byKey[key, default: DrawingProperties()].add(properties)
        }

        /// Returns the first class, identifier or type of the last part of a selector, or nil when it may match every
        /// element.
        private static func key(_ selector: ArraySlice<UInt8>) -> String? {
            // Selectors with attributes, functions or strings are not taken apart.
            let special = Array("[(\"'\\".utf8)
            guard !selector.contains(where: special.contains) else { return nil }
            let last = selector.split { XMLCharacter.isSpace($0) || Array(">+~".utf8).contains($0) }.last
            guard let last, let first = last.first else { return nil }
            let isMarked = first == UInt8(ascii: ".") || first == UInt8(ascii: "#")
            let name = last.dropFirst(isMarked ? 1 : 0)
                .prefix { XMLCharacter.isName($0) && $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: ":") }
            guard !name.isEmpty else { return nil }
            return (isMarked ? String(UnicodeScalar(first)) : "") + String(decoding: name, as: UTF8.self)
        }

        /// Adds the properties of the rules that may apply to an element.
        func add(to properties: inout DrawingProperties, type: String, id: String?, classes: [String]) {
            guard !isEmpty else { return }
            if !universal.isEmpty { properties.add(universal) }
            if let rule = byKey[type] { properties.add(rule) }
            if let id, let rule = byKey["#" + id] { properties.add(rule) }
            for name in classes {
                if let rule = byKey["." + name] { properties.add(rule) }
            }
        }
    }
#endif
