#if SVG
    import AlcedoCore

    extension DrawingElement {
        /// The maximum number of names in the attribute `class`. Each is compared with the selectors of style sheets.
        private static let maximumClassCount = 1_000
        /// The maximum number of elements of the matrix of a convolution, as in librsvg, which panics beyond it.
        private static let maximumKernelCount = 400.0
        /// The number of scans that each embedded image may have, and that of small images.
        private static let smallScanCount = 20
        private static let maximumScanCount = 100
        private static let maximumScannedPixelCount = Double(1 << 30)

        /// Reads the attributes that determine how much work it is to draw the element.
        ///
        /// - Parameters:
        ///   - attributes: The attributes as they are written.
        ///   - viewport: The reference length of percentages.
        ///   - stepCount: The number of steps that may estimate crossings, which is reduced by those that do.
        /// - Throws: `exceedsLimit` for too many names of classes, and for filters with which librsvg 2.54 fails.
        mutating func read(
            _ attributes: [XMLAttribute], viewport: Double, stepCount: inout Int
        ) throws(ImageDecodingError) {
            for attribute in attributes {
                let value = attribute.value[...]
                attributeByteCount += Double(value.count)
                switch attribute.name {
                case "id": id = String(decoding: value, as: UTF8.self)
                case "class":
                    classByteCount = Double(value.count)
                    // A long attribute is split only as far as the limit needs it. The last part can be white space.
                    let parts = value.split(
                        maxSplits: Self.maximumClassCount + 1, whereSeparator: XMLCharacter.isSpace)
                    guard parts.count <= Self.maximumClassCount else {
                        throw ImageDecodingError(
                            .exceedsLimit, "SVG: more than \(Self.maximumClassCount) classes of an element")
                    }
                    let names = parts.map { String(decoding: $0, as: UTF8.self) }
                    // A class that is repeated counts once.
                    classes = names.count > 1 ? Array(Set(names)) : names
                case "style": properties.add(declarations: value, viewport: viewport)
                case "width", "height", "r", "rx", "ry", "x1", "x2", "y1", "y2": properties.addUnit(of: value)
                case "patternTransform": properties.add("transform", value, viewport: viewport)
                default: properties.add(attribute.name, value, viewport: viewport)
                }
            }
            let values = Values(attributes, viewport)
            switch kind {
            case .shape: readShape(values, &stepCount)
            case .text:
                (area, length) = (viewport * viewport, viewport)
                time = DrawingTime.textElement
            case .pattern: readPattern(values)
            case .filterPrimitive: try readPrimitive(values)
            case .container, .use, .image, .definition, .other: readBox(values)
            }
        }

        private struct Values {
            let attributes: [XMLAttribute]
            let viewport: Double

            init(_ attributes: [XMLAttribute], _ viewport: Double) {
                self.attributes = attributes
                self.viewport = viewport
            }

            func text(_ name: String) -> ArraySlice<UInt8>? { attributes.first { $0.name == name }?.value[...] }

            /// Returns the number of pixels of a length; nil when it is missing or invalid.
            func length(_ name: String) -> Double? {
                text(name).flatMap { SVGLength($0) }.map { abs($0.pixels(of: viewport)) }
            }

            /// Returns one or two numbers, as those of filters; the second one is equal to the first by default.
            func pair(_ name: String) -> (Double, Double)? {
                guard let text = text(name) else { return nil }
                var numbers = SVGNumbers(text)
                guard let first = numbers.next() else { return nil }
                return (abs(first), abs(numbers.next() ?? first))
            }
        }

        private mutating func readShape(_ values: Values, _ stepCount: inout Int) {
            switch type {
            case "rect":
                let (width, height) = (values.length("width") ?? 0, values.length("height") ?? 0)
                (area, length, segmentCount) = (width * height, 2 * (width + height), 4)
                filledArea = area
            case "circle", "ellipse":
                let radius = max(values.length("r") ?? 0, values.length("rx") ?? 0, values.length("ry") ?? 0)
                (area, length, segmentCount) = (4 * radius * radius, 2 * .pi * radius, 4)
                filledArea = area
                curveRoot = 4 * (length / 4).squareRoot()
            case "line":
                let ends = ["x1", "y1", "x2", "y2"].reduce(0) { $0 + (values.length($1) ?? 0) }
                (length, segmentCount) = (ends, 1)
            case "polyline", "polygon": readPath(Array("M".utf8) + Array(values.text("points") ?? []), &stepCount)
            default: readPath(Array(values.text("d") ?? []), &stepCount)
            }
            time += segmentCount * DrawingTime.pathSegment
        }

        private mutating func readPath(_ data: [UInt8], _ stepCount: inout Int) {
            let measure = PathMeasure(data[...], stepCount: &stepCount)
            // An outline that closes itself is longer, at most twice as long.
            let bound = measure.length.isNaN ? .infinity : 2 * measure.length
            (area, length, segmentCount) = (measure.area, bound, measure.segmentCount)
            filledArea = measure.filledArea
            curveRoot = measure.curveRoot.isNaN ? .infinity : measure.curveRoot
            time += measure.crossingCount * DrawingTime.crossing
        }

        private mutating func readPattern(_ values: Values) {
            tile.isRelative = values.text("patternUnits").map { units in
                !units.filter { !XMLCharacter.isSpace($0) }.elementsEqual("userSpaceOnUse".utf8)
            }
            tile.width = values.text("width").flatMap { SVGLength($0) }
            tile.height = values.text("height").flatMap { SVGLength($0) }
            tile.viewport = values.viewport
            readBox(values)
        }

        /// Reads the size and the view box of an element that has a viewport of its own.
        private mutating func readBox(_ values: Values) {
            let sides = ["width", "height", "markerWidth", "markerHeight"].compactMap { values.length($0) }
            side = sides.max()
            // A missing side is 100 %.
            if type == "svg", sides.count < 2 { properties.hasPercentage = true }
            if type == "image" {
                // An image without one of the sides may be much longer than the other side, as may one that is cut.
                let fit = String(decoding: values.text("preserveAspectRatio") ?? [], as: UTF8.self)
                imageArea = sides.count == 2 && !fit.contains("slice") ? sides[0] * sides[1] : .infinity
            }
            if type == "feMergeNode" { properties.pixelTime += DrawingTime.filterPrimitive }
            guard let box = values.text("viewBox").flatMap({ SVGViewBox($0) }), box.width > 0, box.height > 0 else {
                return
            }
            switch type {
            case "symbol":
                inverseViewBoxSide = 1 / min(box.width, box.height)
                side = side ?? values.viewport
            case "svg", "marker", "pattern":
                viewBoxScale = max(1, (side ?? values.viewport) / min(box.width, box.height))
            default: break
            }
        }

        private mutating func readPrimitive(_ values: Values) throws(ImageDecodingError) {
            time = DrawingTime.filterElement
            switch type {
            case "feTurbulence":
                let octaves = min(values.pair("numOctaves")?.0 ?? 1, 9)
                properties.pixelTime += (1 + octaves) * DrawingTime.turbulenceOctave
            case "feConvolveMatrix":
                let order = values.pair("order") ?? (3, 3)
                guard order.0 * order.1 <= Self.maximumKernelCount else {
                    throw ImageDecodingError(
                        .exceedsLimit,
                        "SVG: a convolution with more than \(Int(Self.maximumKernelCount)) elements in its matrix")
                }
                properties.pixelTime += order.0 * order.1 * DrawingTime.neighbor
            case "feMorphology":
                let radius = values.pair("radius") ?? (0, 0)
                let (x, y) = (min(radius.0, values.viewport), min(radius.1, values.viewport))
                properties.pixelTime += DrawingTime.neighbor
                scaledPixelTime += (2 * x + 1) * (2 * y + 1) * DrawingTime.neighbor
            case "feGaussianBlur", "feDropShadow": properties.pixelTime += DrawingTime.blur
            case "feDiffuseLighting", "feSpecularLighting": properties.pixelTime += DrawingTime.lighting
            default: properties.pixelTime += DrawingTime.filterPrimitive
            }
        }

        /// Adds an embedded image.
        ///
        /// - Parameter scanCount: The number of scans, each of which librsvg 2.54 draws over the others. Default: 1.
        /// - Throws: `exceedsLimit` when its size or its scans exceed the limits.
        mutating func addImage(
            _ size: PixelSize, scanCount: Int = 1, limits: DecodingLimits
        ) throws(ImageDecodingError) {
            do throws(ImageDecodingError) {
                try limits.check(size, format: .rgba8)
            } catch {
                throw ImageDecodingError(error.code, "SVG: an embedded image: \(error.message)")
            }
            // librsvg holds the pixels of its decoder and a surface of cairo at the same time.
            imageByteCount += 8 * Double(size.pixelCount)
            // The same limit as that of the decoder of JPEG files.
            let scannedPixelCount = Double(size.pixelCount) * Double(scanCount)
            guard
                scanCount <= Self.smallScanCount
                    || scanCount <= Self.maximumScanCount && scannedPixelCount <= Self.maximumScannedPixelCount
            else { throw ImageDecodingError(.exceedsLimit, "SVG: an embedded image has too many scans") }
            time += scannedPixelCount * DrawingTime.imagePixel
        }

        /// Adds an embedded document, which librsvg draws at its natural size.
        ///
        /// - Throws: `exceedsLimit` when its size exceeds the limits.
        mutating func addDocument(_ document: SVGDocument, limits: DecodingLimits) throws(ImageDecodingError) {
            let size = document.size.pixels
            try addImage(size, limits: limits)
            imageByteCount += document.cost.byteCount(pixelCount: size.pixelCount, scale: document.viewBoxScale)
            time += document.cost.time(pixelCount: size.pixelCount, scale: document.viewBoxScale)
            (embedded.elementCount, embedded.depth) = (document.cost.elementCount, document.cost.depth)
            imageByteCount += DrawingTime.elementByteCount * Double(document.elementCount)
            embedded.gradientCount = document.cost.gradientCount
            (embedded.segmentCount, embedded.dashCount) = (document.cost.segmentCount, document.cost.dashCount)
            embedded.characterCount = document.cost.characterCount
        }
    }
#endif
