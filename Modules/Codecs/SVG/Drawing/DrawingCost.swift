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
        /// The area of all tiles of patterns that exist at the same time.
        var tileArea = 0.0
        /// The area of the largest shape.
        var area = 0.0
        /// The length of all outlines, and the number of their segments.
        var length = 0.0
        var segmentCount = 0.0
        /// The number of dashes of all outlines.
        var dashCount = 0.0
        /// The number of bytes of text, counted as often as they are drawn.
        var characterCount = 0.0
        var imageByteCount = 0.0

        /// Adds an element that is drawn after the others.
        mutating func add(_ other: DrawingCost, scale: Double = 1, count: Double = 1) {
            time += count * other.time
            pixelTime += count * other.pixelTime
            scaledPixelTime += count * other.scaledPixelTime
            elementCount += count * other.elementCount
            depth = max(depth, other.depth)
            surfaceCount = max(surfaceCount, other.surfaceCount)
            tileArea = max(tileArea, other.tileArea * scale * scale)
            area = max(area, other.area * scale * scale)
            length += count * other.length
            segmentCount += count * other.segmentCount
            dashCount += count * other.dashCount
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
        }

        /// Returns the estimated bytes of surfaces, tiles and images, without those of the result. The parameters are
        /// as for ``time(pixelCount:scale:)``.
        func byteCount(pixelCount: Int, scale: Double) -> Double {
            4 * surfaceCount * Double(pixelCount) + 4 * tileArea * scale * scale + imageByteCount
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
