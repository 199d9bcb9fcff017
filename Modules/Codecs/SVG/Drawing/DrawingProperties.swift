#if SVG
    /// The properties of an element, or of the rules for it, that determine how much work it is to draw it.
    struct DrawingProperties {
        /// The number of surfaces of the size of the image that exist at the same time.
        var surfaceCount = 0.0
        /// The nanoseconds for each pixel of the image.
        var pixelTime = 0.0
        /// The names of the elements that are drawn once: masks, clipping paths and filters.
        var effects: [String] = []
        /// The names of the patterns that are drawn for each shape.
        var paints: [String] = []
        /// The names of the markers that are drawn at each vertex.
        var markers: [String] = []
        /// The length of an average dash and its gap, or nil without dashes.
        var dashLength: Double?
        /// The factor by which transforms enlarge lengths at most.
        private(set) var scale = 1.0
        private var hasTransform = false
        /// The area of the largest shape that a rule may set.
        var area = 0.0
        /// Whether a side of a box, a radius or an end of a line is a percentage, or relative to the size of a font.
        var hasPercentage = false
        var usesFont = false
        /// Whether the width of a stroke is either.
        var hasRelativeStroke = false
        /// The number of declarations of rules.
        var declarationCount = 0.0
        /// The bytes of long values, which librsvg keeps for each element that has or inherits them.
        var byteCount = 0.0
        /// Whether something is stroked, and the width of strokes.
        var hasStroke = false
        var strokeWidth = 0.0
        /// The length of a miter, in widths of the stroke.
        var miterLimit = 0.0
        /// Whether joins or caps of strokes are round.
        var isRound = false
        /// The values of properties that select a font. Those of rules are not added to those of elements.
        var fonts: [FontValue] = []
        /// Whether a mask, a clipping path, a filter or a layer may be that of another element.
        var inheritsEffects = false

        /// The number of references to other elements.
        var referenceCount: Int { effects.count + paints.count + markers.count }

        var isEmpty: Bool {
            surfaceCount == 0 && pixelTime == 0 && effects.isEmpty && paints.isEmpty && markers.isEmpty
                && dashLength == nil && scale == 1 && area == 0 && !inheritsEffects && declarationCount == 0
        }

        /// Adds a property or an attribute of the same name. Others are ignored. `viewport` is the reference length of
        /// percentages.
        mutating func add(_ name: String, _ value: ArraySlice<UInt8>, viewport: Double) {
            byteCount += Self.byteCount(of: value, name)
            switch name {
            case "opacity":
                checkInheritance(value)
                if Self.isBelowOne(value) { addSurface(DrawingTime.layer) }
            case "mix-blend-mode", "isolation":
                checkInheritance(value)
                if !Self.isKeyword(value, ["normal", "auto", "inherit"]) { addSurface(DrawingTime.layer) }
            case "mask":
                checkInheritance(value)
                guard !Self.isNone(value) else { return }
                surfaceCount += 3
                pixelTime += DrawingTime.mask
                effects += Self.fragments(value)
            case "clip-path":
                checkInheritance(value)
                // A clipping path needs a surface only in the units of a bounding box; its element tells.
                effects += Self.fragments(value)
            case "filter":
                checkInheritance(value)
                guard !Self.isNone(value) else { return }
                surfaceCount += 5
                effects += Self.fragments(value)
                let functionCount = value.count { $0 == UInt8(ascii: "(") }
                pixelTime += DrawingTime.layer + DrawingTime.blur * Double(functionCount)
            case "fill": paints += Self.fragments(value)
            case "stroke":
                hasStroke = hasStroke || !Self.isNone(value)
                paints += Self.fragments(value)
            case "stroke-width":
                guard let width = SVGLength(value) else { return }
                strokeWidth = max(strokeWidth, width.pixels(of: viewport))
                hasRelativeStroke = hasRelativeStroke || width.isPercentage || width.isOfFont
            case "stroke-miterlimit":
                var numbers = SVGNumbers(value)
                miterLimit = max(miterLimit, numbers.next() ?? 0)
            case "stroke-linejoin", "stroke-linecap":
                isRound = isRound || !Self.isKeyword(value, ["miter", "bevel", "butt", "square", "inherit"])
            case "font", "font-family", "font-size", "font-stretch", "font-style", "font-variant", "font-weight",
                "lang", "xml:lang":
                fonts.append(FontValue(name, value))
            case "marker", "marker-start", "marker-mid", "marker-end": markers += Self.fragments(value)
            case "stroke-dasharray": addDashes(value, viewport)
            case "transform": addScale(TransformScale(value).factor)
            case "width", "height", "r", "rx", "ry":
                let side = SVGLength(value)?.pixels(of: viewport) ?? 0
                area = max(area, 4 * side * side)
                addUnit(of: value)
            default: break
            }
        }

        /// Records whether the unit of a length is relative.
        mutating func addUnit(of value: ArraySlice<UInt8>) {
            guard let length = SVGLength(value) else { return }
            hasPercentage = hasPercentage || length.isPercentage
            usesFont = usesFont || length.isOfFont
        }

        /// Adds the declarations of a style. Braces separate declarations as well, so that a block hides none.
        mutating func add(declarations text: ArraySlice<UInt8>, viewport: Double) {
            let separators = Array(";{}".utf8)
            for declaration in text.split(whereSeparator: { separators.contains($0) }) {
                guard let colon = declaration.firstIndex(of: UInt8(ascii: ":")) else { continue }
                var value = declaration[(colon + 1)...]
                if let mark = value.lastIndex(of: UInt8(ascii: "!")), Self.isKeyword(value[mark...], ["!important"]) {
                    value = value[..<mark]
                }
                add(Self.keyword(declaration[..<colon]), value, viewport: viewport)
            }
        }

        /// Adds the properties of a rule that may apply to the same element.
        mutating func add(_ other: DrawingProperties) {
            surfaceCount += other.surfaceCount
            pixelTime += other.pixelTime
            effects += other.effects
            paints += other.paints
            markers += other.markers
            if let length = other.dashLength { dashLength = min(dashLength ?? length, length) }
            if other.hasTransform { addScale(max(1, other.scale)) }
            declarationCount += other.declarationCount
            byteCount += other.byteCount
            hasStroke = hasStroke || other.hasStroke
            strokeWidth = max(strokeWidth, other.strokeWidth)
            miterLimit = max(miterLimit, other.miterLimit)
            isRound = isRound || other.isRound
            area = max(area, other.area)
            hasPercentage = hasPercentage || other.hasPercentage
            usesFont = usesFont || other.usesFont
            hasRelativeStroke = hasRelativeStroke || other.hasRelativeStroke
            inheritsEffects = inheritsEffects || other.inheritsEffects
        }

        /// Returns the bytes that an element holds for a value; 0 for a short one, which the element itself counts.
        private static func byteCount(of value: ArraySlice<UInt8>, _ name: String) -> Double {
            guard value.count > 64 else { return 0 }
            return switch name {
            // A number of two bytes has 16, twice. So has a function of eight bytes 80.
            case "stroke-dasharray": 16 * Double(value.count)
            case "filter": 20 * Double(value.count)
            case "clip-path", "fill", "font", "font-family", "lang", "marker", "marker-end", "marker-mid",
                "marker-start", "mask", "stroke", "xml:lang":
                3 * Double(value.count)
            default: 0
            }
        }

        private mutating func checkInheritance(_ value: ArraySlice<UInt8>) {
            if Self.isKeyword(value, ["inherit"]) { inheritsEffects = true }
        }

        /// Adds a transform. One that does not apply, because another one takes precedence, must not hide the other.
        private mutating func addScale(_ factor: Double) {
            scale = hasTransform ? max(scale, factor) : factor
            hasTransform = true
        }

        private mutating func addSurface(_ time: Double) {
            surfaceCount += 1
            pixelTime += time
        }

        private mutating func addDashes(_ value: ArraySlice<UInt8>, _ viewport: Double) {
            let separators: [UInt8] = [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ",")]
            let lengths = value.split { separators.contains($0) }.compactMap { SVGLength($0) }
            let total = lengths.reduce(0) { $0 + abs($1.pixels(of: viewport)) }
            guard !lengths.isEmpty, total > 0 else { return }
            dashLength = min(dashLength ?? .infinity, 2 * total / Double(lengths.count))
        }

        /// Returns the names of the fragments in the value, such as `a` for `url(#a)`.
        private static func fragments(_ value: ArraySlice<UInt8>) -> [String] {
            value.split(separator: UInt8(ascii: "#"), omittingEmptySubsequences: false).dropFirst().compactMap { part in
                let end = part.firstIndex { $0 == UInt8(ascii: ")") } ?? part.endIndex
                let name = part[..<end].filter { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") && $0 > 0x20 }
                return name.isEmpty || end == part.endIndex ? nil : String(decoding: name, as: UTF8.self)
            }
        }

        /// Returns the text in lower case and without white space.
        private static func keyword(_ text: ArraySlice<UInt8>) -> String {
            let bytes = text.lazy.filter { !XMLCharacter.isSpace($0) }.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
            return String(decoding: bytes, as: UTF8.self)
        }

        private static func isNone(_ value: ArraySlice<UInt8>) -> Bool { isKeyword(value, ["none", "inherit"]) }

        private static func isKeyword(_ value: ArraySlice<UInt8>, _ names: Set<String>) -> Bool {
            names.contains(keyword(value.prefix(40)))
        }

        private static func isBelowOne(_ value: ArraySlice<UInt8>) -> Bool {
            var numbers = SVGNumbers(value)
            guard let number = numbers.next() else { return !isKeyword(value, ["inherit", "initial"]) }
            return number < (numbers.peek == UInt8(ascii: "%") ? 100 : 1)
        }
    }

    /// A value of a property that selects a font.
    struct FontValue: Hashable {
        let name: String
        let value: String
        /// Whether the value is relative to that of the element around it.
        let isRelative: Bool
        /// The number of pixels of the size, or the factor of a relative one; 0 for other properties and for keywords.
        let size: Double
        /// The size of the largest keyword, such as `xx-large`, in pixels.
        static let largestKeyword = 32.0

        private static let units = ["%", "em", "ex", "ch", "larger", "smaller"]

        init(_ name: String, _ value: ArraySlice<UInt8>) {
            self.name = name
            self.value = String(decoding: value, as: UTF8.self)
            let text = self.value.lowercased().prefix { $0 != "!" }.filter { !$0.isWhitespace }
            let isRelative =
                switch name {
                case "font-size": Self.units.contains { text.hasSuffix($0) }
                case "font": Self.units.contains { text.contains($0) }
                default: false
                }
            self.isRelative = isRelative
            guard name == "font-size" || name == "font" else {
                size = 0
                return
            }
            // The size is one of several parts of the property `font`.
            let lengths = value.split { XMLCharacter.isSpace($0) || Array("/,!".utf8).contains($0) }
                .compactMap { SVGLength($0) }
            let sizes = lengths.map { isRelative && !$0.isPercentage ? $0.value / 16 : $0.value }
            size = sizes.reduce(isRelative && text.contains("larger") ? 1.2 : 0, max)
        }
    }

    /// The times by which the work of a drawing is estimated, in nanoseconds. They were measured with librsvg 2.54 and
    /// are rounded up. Times for pixels count each pixel of the image, although most effects cover only a part of it.
    enum DrawingTime {
        /// The factor by which an estimate may exceed the time limit, because it is an upper bound.
        static let tolerance = 10.0
        /// The bytes of an element in librsvg.
        static let elementByteCount = 2_000.0

        static let element = 15_000.0
        /// An element of a document, and a byte of the attribute `style` or of a style sheet, when librsvg reads them.
        static let loadedElement = 10_000.0
        static let styleByte = 150.0
        /// A declaration of a rule, for each element to which it may apply.
        static let declaration = 150.0
        static let pathSegment = 300.0
        /// A point where two segments of an outline cross each other.
        static let crossing = 1_000.0
        /// The number of lines of a curve whose length has the square root 1, in pixels, and the time of each.
        static let curveLines = 3.0
        static let curveLine = 500.0
        static let character = 60_000.0
        /// The layout of a text or a part of one.
        static let textElement = 1_000_000.0
        /// The choice of a font that was not used before.
        static let font = 7_000_000.0
        /// A pair of stops of a gradient, for each shape.
        static let squaredStop = 2.5
        /// One of many stops of a gradient, for each pixel.
        static let stop = 1.0
        /// The time of a text grows with the square of its length.
        static let squaredCharacter = 25.0
        static let imagePixel = 30.0
        /// A pair of an element and a part of a selector.
        static let selector = 150.0
        /// A step of a selector from an element to another one.
        static let selectorStep = 50.0
        /// A byte of the attributes that a selector compares.
        static let selectorByte = 1.5
        /// A pixel that is painted with a color, and in addition with a gradient, a pattern or an image. Patterns with
        /// tiles of a few pixels take up to three times as long.
        static let paintedPixel = 0.5
        static let gradientPixel = 15.0
        static let patternPixel = 300.0
        static let scaledImagePixel = 25.0
        /// A pixel of the length of an outline, and the maximum length of a segment in pixels.
        static let outlinePixel = 25.0
        static let segmentLength = 100_000.0
        static let layer = 2.0
        static let mask = 14.0
        static let blur = 300.0
        static let lighting = 120.0
        static let filterPrimitive = 80.0
        /// A filter primitive, whatever its size.
        static let filterElement = 80_000.0
        static let turbulenceOctave = 100.0
        /// One element of the matrix of a convolution, and one pixel of the neighborhood of a morphological filter.
        static let neighbor = 10.0
    }

    /// The factor by which a list of transforms enlarges lengths at most.
    struct TransformScale {
        private(set) var factor = 1.0

        /// Reads the attribute `transform`. Invalid lists count as far as they are read.
        init(_ text: ArraySlice<UInt8>) {
            for part in text.split(separator: UInt8(ascii: ")")) {
                guard let open = part.firstIndex(of: UInt8(ascii: "(")) else { continue }
                let letters = part[..<open].filter { 0x61...0x7A ~= $0 | 0x20 }.map { $0 | 0x20 }
                let name = String(decoding: letters, as: UTF8.self)
                var numbers = SVGNumbers(part[(open + 1)...])
                var values: [Double] = []
                while values.count < 6, let value = numbers.next() { values.append(value) }
                switch name {
                case "matrix" where values.count == 6:
                    factor *= values[..<4].reduce(0) { $0 + $1 * $1 }.squareRoot()
                case "scale", "scalex", "scaley": factor *= max(abs(values.first ?? 1), abs(values.last ?? 1))
                case "skewx", "skewy":
                    let tangent = abs((values.first ?? 0) * .pi / 180).truncatingRemainder(dividingBy: .pi)
                    // The tangent of an angle near a right angle is large.
                    factor *= 1 + 1 / max(1e-6, abs(.pi / 2 - tangent))
                default: break
                }
            }
        }
    }
#endif
