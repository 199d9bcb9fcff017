#if SVG
    import AlcedoCore

    /// Upper bounds of the work and the memory of drawing an element, with everything inside it and everything to which
    /// it refers. Areas are in the units of the element.
    struct DrawingCost {
        /// The nanoseconds that do not depend on the size of the image.
        var time = 0.0
        /// The nanoseconds for each pixel of the image.
        var pixelTime = 0.0
        /// The nanoseconds for each pixel of the image, in addition, times the square of the scale of the document.
        var scaledPixelTime = 0.0
        /// The number of elements, counted as often as they are drawn.
        var elementCount = 0.0
        /// The number of nested elements and references.
        var depth = 0.0
        /// The number of surfaces of the size of the image that exist at the same time.
        var surfaceCount = 0.0
        /// The number of surfaces that `feImage` enlarges by the scale of the document.
        var enlargedSurfaceCount = 0.0
        /// The area of all tiles of patterns that exist at the same time.
        var tileArea = 0.0
        /// The area of the largest shape.
        var area = 0.0
        /// What is painted, as if it had one color.
        var painted = PaintedArea()
        /// The gradients, patterns and images with which it is painted. Their areas count as often as they take
        /// nanoseconds for each pixel.
        var blended = PaintedArea()
        /// Whether an element inside has a size in percent of that of the nearest viewport around it.
        var hasRelativeViewport = false
        /// The length of all outlines, and the number of their segments.
        var length = 0.0
        var segmentCount = 0.0
        /// The number of dashes of all outlines.
        var dashCount = 0.0
        /// The sum of the square roots of the lengths of all curves.
        var curveRoot = 0.0
        /// The most of these of one shape.
        var largest = Outline()
        /// The number of shapes, counted as often as they are drawn, that a gradient fills or strokes.
        var gradientCount = 0.0
        /// The number of bytes of text, counted as often as they are drawn.
        var characterCount = 0.0
        var imageByteCount = 0.0
        /// The bytes of long values of properties, counted for each element that has or inherits them.
        var propertyByteCount = 0.0

        /// The size of an outline in memory.
        struct Outline {
            var length = 0.0
            var segmentCount = 0.0
            var curveRoot = 0.0
            var dashCount = 0.0
            /// The width of strokes. nil when nothing is stroked.
            var strokeWidth: Double?
            /// Whether joins or caps of strokes may be round.
            var isRound = false

            /// Changes each value to the larger one, after those of the other outline were enlarged.
            mutating func formUnion(_ other: Outline, scale: Double = 1) {
                length = max(length, other.length)
                segmentCount = max(segmentCount, other.segmentCount)
                curveRoot = max(curveRoot, other.curveRoot * scale.squareRoot())
                dashCount = max(dashCount, other.dashCount)
                if let width = other.strokeWidth { strokeWidth = max(strokeWidth ?? 0, width * scale) }
                isRound = isRound || other.isRound
            }

            /// Returns the bytes of cairo for the lines of an outline at a scale. Measured with cairo 1.16.
            func byteCount(scale: Double) -> Double {
                let lineCount = segmentCount + dashCount + DrawingCost.lineCount(curveRoot, segmentCount, scale: scale)
                guard let strokeWidth else { return 100 * lineCount }
                // The lines of a round join grow with the square root of its radius.
                return lineCount * 500 * (isRound ? 2 + 0.3 * (strokeWidth * scale).squareRoot() : 1)
            }
        }

        /// Adds an element that is drawn after the others.
        mutating func add(_ other: DrawingCost, scale: Double = 1, count: Double = 1) {
            time += count * other.time
            pixelTime += count * other.pixelTime
            scaledPixelTime += count * other.scaledPixelTime
            elementCount += count * other.elementCount
            depth = max(depth, other.depth)
            surfaceCount = max(surfaceCount, other.surfaceCount)
            enlargedSurfaceCount = max(enlargedSurfaceCount, other.enlargedSurfaceCount)
            tileArea = max(tileArea, other.tileArea * scale * scale)
            area = max(area, other.area * scale * scale)
            painted.add(other.painted, scale: scale, count: count)
            blended.add(other.blended, scale: scale, count: count)
            hasRelativeViewport = hasRelativeViewport || other.hasRelativeViewport
            length += count * other.length
            segmentCount += count * other.segmentCount
            dashCount += count * other.dashCount
            curveRoot += count * other.curveRoot * max(1, scale).squareRoot()
            largest.formUnion(other.largest, scale: max(1, scale))
            gradientCount += count * other.gradientCount
            characterCount += count * other.characterCount
            imageByteCount += other.imageByteCount
        }

        /// Returns the estimated nanoseconds of a drawing.
        ///
        /// - Parameters:
        ///   - pixelCount: The number of pixels of the result.
        ///   - scale: The number of pixels of the result for a pixel of the document.
        func time(pixelCount: Int, scale: Double) -> Double {
            time + (pixelTime + scaledPixelTime * scale * scale) * Double(pixelCount)
                + DrawingTime.curveLine * Self.lineCount(curveRoot, segmentCount, scale: scale)
                + DrawingTime.paintedPixel * painted.pixelCount(of: pixelCount, scale: scale)
                + DrawingTime.outlinePixel
                * min(painted.length(scale: scale), DrawingTime.segmentLength * segmentCount)
                + blended.pixelCount(of: pixelCount, scale: scale)
        }

        /// Returns the number of lines as which curves are drawn. cairo has coordinates of at most 2^23 pixels.
        private static func lineCount(_ curveRoot: Double, _ segmentCount: Double, scale: Double) -> Double {
            DrawingTime.curveLines * min(curveRoot * scale.squareRoot(), 4_096 * segmentCount)
        }

        /// Returns the estimated bytes of surfaces, tiles, images, outlines and long properties, without those of the
        /// result. The parameters are as for ``time(pixelCount:scale:)``.
        func byteCount(pixelCount: Int, scale: Double) -> Double {
            4 * (surfaceCount + enlargedSurfaceCount * scale * scale) * Double(pixelCount)
                + 4 * tileArea * scale * scale + imageByteCount + propertyByteCount + largest.byteCount(scale: scale)
        }

        /// The maximum number of elements that are drawn.
        private static let maximumElementCount = 500_000.0
        /// The maximum number of nested elements and references.
        private static let maximumDepth = 1_000.0
        private static let maximumDashCount = 1_000_000.0

        /// Checks the limits that do not depend on the size of the image.
        func check() throws(ImageDecodingError) {
            for (count, maximum, name) in [
                (elementCount, Self.maximumElementCount, "drawn elements"),
                (depth, Self.maximumDepth, "nested references"), (dashCount, Self.maximumDashCount, "dashes"),
            ] {
                guard count <= maximum else {
                    throw ImageDecodingError(.exceedsLimit, "SVG: more than \(Int(maximum)) \(name)")
                }
            }
        }
    }
#endif
