#if SVG
    import AlcedoCore

    /// The size of a document in its own pixels, of which 96 are an inch.
    ///
    /// The properties or attributes `width` and `height` of the root element give it. A percentage and a missing side
    /// follow from `viewBox`; without it, they are 300 × 150 pixels, as for replaced elements of CSS. A negative side
    /// is invalid and counts as missing, as in browsers. Sources: SVG 2, section 8.2; CSS Images 3, section 5.3.
    struct SVGNaturalSize: Equatable {
        let width: Double
        let height: Double

        /// Reads the attributes of the root element.
        ///
        /// - Throws: `corrupt` when a side is zero.
        init(
            width widthText: [UInt8]?, height heightText: [UInt8]?, viewBox: SVGViewBox?
        ) throws(ImageDecodingError) {
            func side(_ text: [UInt8]?) -> Double? {
                guard let text else { return nil }
                if let calculation = SVGCalculation(text[...]) {
                    return calculation.pixels.flatMap { $0 > 0 ? $0 : nil }
                }
                return SVGLength(text[...], isOfRoot: true).flatMap { $0.isPercentage || $0.value < 0 ? nil : $0.value }
            }
            let box = viewBox.flatMap { $0.width > 0 && $0.height > 0 ? $0 : nil }
            switch (side(widthText), side(heightText)) {
            case (let width?, let height?): (self.width, self.height) = (width, height)
            case (let width?, nil): (self.width, height) = (width, box.map { width * $0.height / $0.width } ?? 150)
            case (nil, let height?): (width, self.height) = (box.map { height * $0.width / $0.height } ?? 300, height)
            case (nil, nil): (width, height) = (box?.width ?? 300, box?.height ?? 150)
            }
            guard width > 0, height > 0, width.isFinite, height.isFinite else {
                throw ImageDecodingError(.corrupt, "SVG: the size of \(width) x \(height) pixels is invalid")
            }
        }

        /// Removes the properties `width` and `height` from the declarations of the attribute `style`, and returns
        /// those that are valid. librsvg would apply them in addition to the size that the document is drawn at.
        ///
        /// The last valid declaration wins, unless an earlier one is important. O(bytes).
        static func removeSides(from style: inout [UInt8]) -> (width: [UInt8]?, height: [UInt8]?) {
            var rest: [[UInt8]] = []
            var sides: [String: (value: [UInt8], isImportant: Bool)] = [:]
            for declaration in CSSText.declarations(style[...]) {
                guard let colon = declaration.firstIndex(of: UInt8(ascii: ":")) else {
                    rest.append(Array(declaration))
                    continue
                }
                let trimmed = { (text: ArraySlice<UInt8>) in
                    String(decoding: text, as: UTF8.self).lowercased().split(whereSeparator: \.isWhitespace)
                        .joined(separator: " ")
                }
                var name = trimmed(declaration[..<colon])
                // The text of the document runs horizontally.
                if name == "inline-size" { name = "width" }
                if name == "block-size" { name = "height" }
                guard name == "width" || name == "height" else {
                    rest.append(Array(declaration))
                    continue
                }
                var value = trimmed(declaration[(colon + 1)...])
                let mark = value.lastIndex(of: "!")
                let isImportant = mark.map { value[$0...].filter { $0 != " " } == "!important" } ?? false
                if isImportant, let mark { value = trimmed(Array(value[..<mark].utf8)[...]) }
                guard isLength(value), sides[name]?.isImportant != true || isImportant else { continue }
                sides[name] = (Array(value.utf8), isImportant)
            }
            style = Array(rest.joined(separator: [UInt8(ascii: ";")]))
            return (sides["width"]?.value, sides["height"]?.value)
        }

        /// Returns whether a value of the properties `width` and `height` is valid. Other than in attributes, a number
        /// needs a unit unless it is zero, and must not be negative.
        private static func isLength(_ value: String) -> Bool {
            if value == "auto" { return true }
            if let calculation = SVGCalculation(Array(value.utf8)[...]) { return calculation.pixels ?? 0 >= 0 }
            guard let length = SVGLength(Array(value.utf8)[...], isOfRoot: true), let last = value.last else {
                return false
            }
            return length.value == 0 || length.value > 0 && !last.isNumber && last != "."
        }

        /// The size in whole pixels: rounded, each side at least 1 and at most 10⁹.
        var pixels: PixelSize {
            PixelSize(width: Int(min(max(1, width.rounded()), 1e9)), height: Int(min(max(1, height.rounded()), 1e9)))
        }
    }
#endif
