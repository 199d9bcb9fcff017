public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Rounds all corners by the same radius, makes the pixels outside them transparent, and draws an optional border.
    /// Otherwise behaves like `roundedCorners(_:border:)`.
    ///
    /// ```swift
    /// let request = ImageRequest(url: url, processors: [.roundedCorners(radius: 12)])
    /// ```
    ///
    /// - Parameters:
    ///   - radius: The radius, from 0. Processing throws `invalidParameter` for a radius that is negative or not
    ///     finite.
    ///   - unit: The unit of the radius. Default: `.pixels`.
    ///   - border: A line along the inside of the edge, or `nil` for no border. Default: `nil`.
    public static func roundedCorners(
        radius: Double, unit: CornerRadii.Unit = .pixels, border: ImageProcessors.Border? = nil
    ) -> Self {
        roundedCorners(CornerRadii(radius, unit: unit), border: border)
    }

    /// Rounds each corner by its own radius, makes the pixels outside them transparent, and draws an optional border.
    ///
    /// Edges are anti-aliased by the share of each pixel that lies inside. Works on every pixel format: `gray8` and
    /// `rgbx8` become `rgba8`, and opaque images get straight alpha. Pixels outside are transparent black. The border
    /// is drawn over the image. When all radii are 0, only the border is drawn and the image keeps its alpha mode;
    /// `gray8` becomes `rgbx8` when the border has color.
    ///
    /// Corners refer to the rows in memory, before ``/AlcedoCore/DecodedImage/orientation`` is applied. Put `.orient`
    /// first to round the corners of the displayed image. Processing throws `invalidParameter` when a radius or the
    /// width of the border is negative or not finite, and `tooLarge` when there is no memory for the result.
    ///
    /// - Parameters:
    ///   - radii: The radius of each corner.
    ///   - border: A line along the inside of the edge, or `nil` for no border. Default: `nil`.
    /// - Complexity: O(*w* × *h*). Needs one new buffer for a whole image, and three rows of memory for arriving rows.
    public static func roundedCorners(_ radii: CornerRadii, border: ImageProcessors.Border? = nil) -> Self {
        Self(ImageProcessors.RoundedCorners(radii, border: border))
    }
}

extension ImageProcessors {
    /// The processor of `.roundedCorners(radius:unit:border:)` and `.roundedCorners(_:border:)`.
    package struct RoundedCorners: PointProcessing {
        package let radii: CornerRadii
        /// The line along the inside of the edge, or `nil` for no border.
        package let border: Border?

        package init(_ radii: CornerRadii, border: Border? = nil) {
            self.radii = radii
            self.border = border
        }

        package init(radius: Double, border: Border? = nil) { self.init(CornerRadii(radius), border: border) }

        package var identifier: String {
            "corners:\(radii.identifier)\(border.map { ",border:\($0.identifier)" } ?? "")"
        }

        package func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation? {
            let pixels = try radii.pixels(in: header.size)
            let border = try checkedBorder()
            guard border != nil || !radii.areZero else { return nil }
            let drawing = ShapeDrawing(header, radii: pixels, border: border)
            let (format, alphaMode) = kind(for: header, border)
            let copiesBytes = header.format.bytesPerPixel == format.bytesPerPixel
            let (source, result) = (
                PixelCoding(format: header.format, alphaMode: header.alphaMode),
                PixelCoding(format: format, alphaMode: alphaMode)
            )
            let width = header.size.width
            let row = PixelRow(width)
            let change = { (from: UnsafeRawPointer, range: Range<Int>, to: UnsafeMutableRawPointer, draws: Bool) in
                guard !range.isEmpty else { return }
                source.read(from + range.lowerBound * header.format.bytesPerPixel, range.count, into: row.base)
                if draws { drawing.draw(range, row.base) }
                result.write(row.base, range.count, to: to + range.lowerBound * format.bytesPerPixel)
            }
            return PointOperation(format, alphaMode) { from, y, to in
                let untouched = drawing.prepare(row: y)
                if copiesBytes {
                    let start = untouched.lowerBound * format.bytesPerPixel
                    (to + start).copyMemory(from: from + start, byteCount: untouched.count * format.bytesPerPixel)
                } else {
                    change(from, untouched, to, false)
                }
                change(from, 0..<untouched.lowerBound, to, true)
                change(from, untouched.upperBound..<width, to, true)
            }
        }

        /// Returns the border, or `nil` when it is invisible. Throws `invalidParameter` when its width is negative or
        /// not finite.
        private func checkedBorder() throws(ImageProcessingError) -> Border? {
            guard let border else { return nil }
            guard border.width.isFinite, border.width >= 0 else {
                throw ImageProcessingError(.invalidParameter, "invalid border width: \(border.width) pixels")
            }
            return border.width > 0 && border.color.alpha > 0 ? border : nil
        }

        private func kind(for header: PixelRowHeader, _ border: Border?) -> (PixelFormat, AlphaMode) {
            guard radii.areZero else {
                return (header.format.colored, header.alphaMode == .opaque ? .straight : header.alphaMode)
            }
            let isColored = header.format.isGray && border?.color.isGray == false
            return (isColored ? header.format.opaqueColored : header.format, header.alphaMode)
        }
    }
}

extension ImageProcessors {
    /// A line along the inside of a shape's edge.
    ///
    /// ```swift
    /// let border = ImageProcessors.Border(width: 4, color: .white)
    /// let request = ImageRequest(url: url, processors: [.circle(border: border)])
    /// ```
    public struct Border: Sendable, Hashable {
        let width: Double
        let color: PixelColor

        /// Creates a border.
        ///
        /// - Parameters:
        ///   - width: The width in pixels, from 0. Fractions are allowed. Processors throw `invalidParameter` for a
        ///     width that is negative or not finite.
        ///   - color: The color of the line.
        public init(width: Double, color: PixelColor) {
            self.width = width
            self.color = color
        }

        /// The name of the border in cache keys. It must not change between releases.
        var identifier: String { "\(width),\(color)" }
    }
}

/// A drawing that clips an image to a shape and draws the border, row by row.
private final class ShapeDrawing {
    private let width: Int
    private let shape: RoundedRectangle
    private let inner: RoundedRectangle?
    private let borderColor: SIMD4<Float>
    private let shapeCoverage: Scratch<Float>
    private let innerCoverage: Scratch<Float>

    /// Creates a drawing. `radii` must satisfy the requirements of ``RoundedRectangle``.
    init(_ header: PixelRowHeader, radii: SIMD4<Double>, border: ImageProcessors.Border?) {
        width = header.size.width
        shape = RoundedRectangle(size: header.size, radii: radii)
        inner = border.map { RoundedRectangle(size: header.size, radii: radii, inset: $0.width) }
        borderColor = border?.color.samples ?? SIMD4(repeating: 0)
        shapeCoverage = Scratch(count: width)
        innerCoverage = Scratch(count: width)
    }

    /// Computes the coverage of row `y` and returns the range of pixels that do not change.
    func prepare(row y: Int) -> Range<Int> {
        let inside = shape.cover(row: y, width: width, into: shapeCoverage.base)
        guard let inner else { return inside }
        return inner.cover(row: y, width: width, into: innerCoverage.base)
    }

    /// Changes the pixels of `range` in the row that was passed to ``prepare(row:)``. `pixels` points to the first of
    /// them.
    func draw(_ range: Range<Int>, _ pixels: UnsafeMutablePointer<SIMD4<Float>>) {
        for (offset, x) in range.enumerated() {
            var pixel = pixels[offset]
            if inner != nil {
                var line = borderColor
                line.w *= 1 - innerCoverage.base[x]
                pixel = Blending.over(pixel, line)
            }
            pixel.w *= shapeCoverage.base[x]
            pixels[offset] = pixel.w > 0 ? pixel : SIMD4(repeating: 0)
        }
    }
}

/// A rectangle with rounded corners that computes how much of each pixel lies inside it.
private struct RoundedRectangle {
    /// The number of scan lines per row of pixels. The covered length of each line is exact, so that the error of the
    /// coverage is below half an 8-bit level.
    private static let linesPerRow = 32

    private let left: Double
    private let top: Double
    private let right: Double
    private let bottom: Double
    /// The radii clockwise from the top left corner.
    private let radii: SIMD4<Double>

    /// Creates a rectangle.
    ///
    /// - Parameters:
    ///   - size: The size of the image.
    ///   - radii: The radii in pixels. The sum of the two radii along a side must not exceed the length of the side.
    ///   - inset: The distance of every edge from the edge of the image, in pixels.
    init(size: PixelSize, radii: SIMD4<Double>, inset: Double = 0) {
        left = inset
        top = inset
        right = Double(size.width) - inset
        bottom = Double(size.height) - inset
        self.radii = (radii - inset).clamped(lowerBound: SIMD4(repeating: 0), upperBound: radii)
    }

    /// Computes the share of each pixel of row `y` that lies inside the rectangle, and writes the shares to `out`.
    /// Returns the range of pixels that lie inside completely.
    func cover(row y: Int, width: Int, into out: UnsafeMutablePointer<Float>) -> Range<Int> {
        out.update(repeating: 0, count: width)
        var spans: [(left: Double, right: Double)] = []
        for line in 0..<Self.linesPerRow {
            let height = Double(y) + (Double(line) + 0.5) / Double(Self.linesPerRow)
            if let span = span(at: height) { spans.append(span) }
        }
        guard let first = spans.first else { return 0..<0 }
        var (outer, inner) = (first, first)
        for span in spans {
            outer = (min(outer.left, span.left), max(outer.right, span.right))
            inner = (max(inner.left, span.left), min(inner.right, span.right))
        }
        let touched = max(0, Int(outer.left))..<min(width, Int(outer.right.rounded(.up)))
        var solid = Int(inner.left.rounded(.up))..<Int(max(inner.left.rounded(.up), inner.right.rounded(.down)))
        if spans.count < Self.linesPerRow { solid = 0..<0 }
        out.advanced(by: solid.lowerBound).update(repeating: 1, count: solid.count)
        for x in touched where !solid.contains(x) {
            var sum = 0.0
            for span in spans { sum += max(0, min(span.right, Double(x + 1)) - max(span.left, Double(x))) }
            out[x] = Float(sum / Double(Self.linesPerRow))
        }
        return solid
    }

    /// Returns the positions at which the line at height `y` enters and leaves the shape, or `nil` when the line does
    /// not cross the shape.
    private func span(at y: Double) -> (left: Double, right: Double)? {
        guard y > top, y < bottom else { return nil }
        let start = left + indent(y, above: radii[0], below: radii[3])
        let end = right - indent(y, above: radii[1], below: radii[2])
        return start < end ? (start, end) : nil
    }

    /// Returns the distance by which the corners of one side move the edge inward at height `y`.
    private func indent(_ y: Double, above upper: Double, below lower: Double) -> Double {
        let (fromTop, fromBottom) = (y - top, bottom - y)
        if fromTop < upper { return upper - Self.chord(upper, upper - fromTop) }
        if fromBottom < lower { return lower - Self.chord(lower, lower - fromBottom) }
        return 0
    }

    /// Returns half the length of the chord at `distance` from the center of a circle. `distance` must not exceed
    /// `radius`.
    private static func chord(_ radius: Double, _ distance: Double) -> Double {
        max(0, (radius - distance) * (radius + distance)).squareRoot()
    }
}
