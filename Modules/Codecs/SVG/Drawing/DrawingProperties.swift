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
        var scale = 1.0
        /// The area of the largest shape that a rule may set.
        var area = 0.0
        /// Whether a mask, a clipping path, a filter or a layer may be that of another element.
        var inheritsEffects = false

        /// The number of references to other elements.
        var referenceCount: Int { effects.count + paints.count + markers.count }

        var isEmpty: Bool {
            surfaceCount == 0 && pixelTime == 0 && effects.isEmpty && paints.isEmpty && markers.isEmpty
                && dashLength == nil && scale == 1 && area == 0 && !inheritsEffects
        }

        /// Adds a property or an attribute of the same name. Others are ignored. `viewport` is the reference length of
        /// percentages.
        mutating func add(_ name: String, _ value: ArraySlice<UInt8>, viewport: Double) {
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
            case "fill", "stroke": paints += Self.fragments(value)
            case "marker", "marker-start", "marker-mid", "marker-end": markers += Self.fragments(value)
            case "stroke-dasharray": addDashes(value, viewport)
            case "transform": scale *= TransformScale(value).factor
            case "width", "height", "r", "rx", "ry":
                let side = SVGLength(value)?.pixels(of: viewport) ?? 0
                area = max(area, 4 * side * side)
            default: break
            }
        }

        /// Adds the declarations of a style. Braces separate declarations as well, so that a block hides none.
        mutating func add(declarations text: ArraySlice<UInt8>, viewport: Double) {
            let separators = Array(";{}".utf8)
            for declaration in text.split(whereSeparator: { separators.contains($0) }) {
                guard let colon = declaration.firstIndex(of: UInt8(ascii: ":")) else { continue }
                add(Self.keyword(declaration[..<colon]), declaration[(colon + 1)...], viewport: viewport)
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
            scale *= other.scale
            area = max(area, other.area)
            inheritsEffects = inheritsEffects || other.inheritsEffects
        }

        private mutating func checkInheritance(_ value: ArraySlice<UInt8>) {
            if Self.isKeyword(value, ["inherit"]) { inheritsEffects = true }
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
            let text = keyword(value.prefix(40))
            return names.contains(text.hasSuffix("!important") ? String(text.dropLast(10)) : text)
        }

        private static func isBelowOne(_ value: ArraySlice<UInt8>) -> Bool {
            var numbers = SVGNumbers(value)
            guard let number = numbers.next() else { return !isKeyword(value, ["inherit", "initial"]) }
            return number < (numbers.peek == UInt8(ascii: "%") ? 100 : 1)
        }
    }

    /// The times by which the work of a drawing is estimated, in nanoseconds. They were measured with librsvg 2.54 and
    /// are rounded up. Times for pixels count each pixel of the image, although most effects cover only a part of it.
    enum DrawingTime {
        /// The factor by which an estimate may exceed the time limit, because it is an upper bound.
        static let tolerance = 10.0

        static let element = 15_000.0
        static let pathSegment = 300.0
        /// A point where two segments of an outline cross each other.
        static let crossing = 1_000.0
        static let character = 60_000.0
        /// The time of a text grows with the square of its length.
        static let squaredCharacter = 25.0
        static let imagePixel = 30.0
        /// A pair of an element and a selector.
        static let selector = 150.0
        static let layer = 2.0
        static let mask = 14.0
        static let blur = 300.0
        static let lighting = 120.0
        static let filterPrimitive = 80.0
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
