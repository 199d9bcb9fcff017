#if SVG
    /// Upper bounds of the areas that shapes paint, in the units of the element, and so of the pixels.
    ///
    /// Each shape paints at most the whole image, whose size in these units is not known before the scales of all
    /// elements around the shape are. Therefore only sums are kept, and the smallest of three counts: the areas of all
    /// shapes, the whole image for each, and for each the square root of the part *x* of the image that it has. At most
    /// √*x* of the image is painted, also when the shape is larger than the image, so one that is far larger does not
    /// make many small ones count as the whole image.
    struct PaintedArea {
        /// The number of shapes.
        private(set) var count = 0.0
        private var area = 0.0
        /// The sum of the square roots of the areas.
        private var root = 0.0
        /// The area in tiles of patterns, which may be larger than the image.
        private var tileArea = 0.0
        /// The length of outlines.
        private var length = 0.0

        init() {}

        /// Creates the area of shapes of one size, or of a shape and its outline.
        init(of area: Double, count: Double = 1, length: Double = 0) {
            self.length = length
            let area = area.isNaN ? .infinity : area
            guard area > 0, count > 0 else { return }
            (self.count, self.area, root) = (count, count * area, count * area.squareRoot())
        }

        /// The area when each shape may paint the whole image.
        var covering: PaintedArea {
            var result = self
            if count > 0 { (result.area, result.root) = (.infinity, .infinity) }
            return result
        }

        /// Returns the area when each shape may paint a whole tile of a pattern.
        func inTile(of area: Double) -> PaintedArea {
            var result = PaintedArea()
            result.tileArea = tileArea + (count > 0 ? count * area : 0)
            result.length = length
            return result
        }

        /// Adds an area that is enlarged, and painted several times.
        mutating func add(_ other: PaintedArea, scale: Double = 1, count: Double = 1) {
            var other = other
            other.enlarge(by: scale)
            self.count += count * other.count
            area += count * other.area
            root += count * other.root
            tileArea += count * other.tileArea
            length += count * other.length
        }

        mutating func enlarge(by scale: Double) {
            let scale = Self.limited(scale)
            area *= scale * scale
            root *= scale
            tileArea *= scale * scale
            length *= scale
        }

        /// Returns the maximum number of pixels that are painted. The parameters are those of
        /// ``DrawingCost/time(pixelCount:scale:)``.
        func pixelCount(of imagePixelCount: Int, scale: Double) -> Double {
            let (image, scale) = (Double(imagePixelCount), Self.limited(scale))
            let pixels = min(count * image, area * scale * scale, root * scale * image.squareRoot())
            return pixels + tileArea * scale * scale
        }

        /// Returns the length of the outlines in pixels.
        func length(scale: Double) -> Double { length * Self.limited(scale) }

        /// Returns a scale whose product with zero or infinity is a number.
        private static func limited(_ scale: Double) -> Double { min(max(1e-6, scale), 1e150) }
    }
#endif
