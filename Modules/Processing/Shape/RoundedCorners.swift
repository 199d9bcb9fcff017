public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Makes all corners round and transparent by the same radius, and draws a border along the edge; otherwise as
    /// `roundedCorners(_:border:)`.
    ///
    /// - Parameters:
    ///   - radius: In `unit`, from 0. Processing throws `invalidParameter` for one that is negative or not finite.
    ///   - unit: The unit of the radius. Default: pixels.
    ///   - border: The line along the edge, inside it. Default: none.
    public static func roundedCorners(
        radius: Double, unit: CornerRadii.Unit = .pixels, border: ImageProcessors.Border? = nil
    ) -> Self {
        roundedCorners(CornerRadii(radius, unit: unit), border: border)
    }

    /// Makes the corners round and transparent, each by its own radius, and draws a border along the edge.
    ///
    /// Edges are anti-aliased by the exact share of each pixel that lies inside. Works on every pixel format: `gray8` and
    /// `rgbx8` become `rgba8`, opaque images get straight alpha. Pixels outside are transparent black. Without round corners
    /// only the border is drawn, and an opaque image stays opaque. The border lies over the image. Corners are those of the
    /// rows in memory, that is before ``/AlcedoCore/DecodedImage/orientation``; put `.orient` in front where they differ.
    ///
    /// - Parameters:
    ///   - radii: The radius of each corner.
    ///   - border: The line along the edge, inside it. Default: none.
    /// - Complexity: O(*w* × *h*), one new buffer, or three rows.
    public static func roundedCorners(_ radii: CornerRadii, border: ImageProcessors.Border? = nil) -> Self {
        Self(ImageProcessors.RoundedCorners(radii, border: border))
    }
}

extension ImageProcessors {
    /// The processor of `.roundedCorners(radius:unit:border:)` and `.roundedCorners(_:border:)`.
    package struct RoundedCorners: PointProcessing {
        /// How round the corners are.
        package let radii: CornerRadii
        /// The line along the edge; nil for none.
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

        /// The border, if it can be seen.
        private func checkedBorder() throws(ImageProcessingError) -> Border? {
            guard let border else { return nil }
            guard border.width.isFinite, border.width >= 0 else {
                throw ImageProcessingError(.invalidParameter, "a border of \(border.width) pixels makes no sense")
            }
            return border.width > 0 && border.color.alpha > 0 ? border : nil
        }

        private func kind(for header: PixelRowHeader, _ border: Border?) -> (PixelFormat, AlphaMode) {
            guard radii.areZero else {
                let format: PixelFormat = header.format == .rgba16 ? .rgba16 : .rgba8
                return (format, header.alphaMode == .opaque ? .straight : header.alphaMode)
            }
            let isColored = header.format == .gray8 && border?.color.isGray == false
            return (isColored ? .rgbx8 : header.format, header.alphaMode)
        }
    }
}

extension ImageProcessors {
    /// A line along the edge of a shape, inside it.
    public struct Border: Sendable, Hashable {
        let width: Double
        let color: PixelColor

        /// Creates a line.
        ///
        /// - Parameters:
        ///   - width: In pixels, from 0; need not be whole. Processors throw `invalidParameter` for one that is negative or
        ///     not finite.
        ///   - color: The color of the line.
        public init(width: Double, color: PixelColor) {
            self.width = width
            self.color = color
        }

        /// Stable: part of cache keys.
        var identifier: String { "\(width),\(color)" }
    }
}

/// Cuts a picture to a shape and draws its border, row by row.
private final class ShapeDrawing {
    private let width: Int
    private let shape: RoundedRectangle
    private let inner: RoundedRectangle?
    private let borderColor: SIMD4<Float>
    private let shapeCoverage: Scratch<Float>
    private let innerCoverage: Scratch<Float>

    /// - Parameter radii: As ``RoundedRectangle`` wants them.
    init(_ header: PixelRowHeader, radii: SIMD4<Double>, border: ImageProcessors.Border?) {
        width = header.size.width
        shape = RoundedRectangle(size: header.size, radii: radii)
        inner = border.map { RoundedRectangle(size: header.size, radii: radii, inset: $0.width) }
        borderColor = border?.color.samples ?? SIMD4(repeating: 0)
        shapeCoverage = Scratch(count: width)
        innerCoverage = Scratch(count: width)
    }

    /// Turns to row `y`. Returns the pixels that stay as they are.
    func prepare(row y: Int) -> Range<Int> {
        let inside = shape.cover(row: y, width: width, into: shapeCoverage.base)
        guard let inner else { return inside }
        return inner.cover(row: y, width: width, into: innerCoverage.base)
    }

    /// Changes the pixels of `range` of the row, of which the first is at `pixels`.
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

/// A rectangle with round corners: how much of each pixel lies in it.
private struct RoundedRectangle {
    /// Lines by which a row of pixels is measured. Along each the covered length is exact, so coverage is right to less
    /// than half a level of 8 bits.
    private static let linesPerRow = 32

    private let left: Double
    private let top: Double
    private let right: Double
    private let bottom: Double
    /// From the top left corner clockwise.
    private let radii: SIMD4<Double>

    /// - Parameters:
    ///   - radii: In pixels; no two of a side are longer than it.
    ///   - inset: By how much every edge lies within a picture of `size`.
    init(size: PixelSize, radii: SIMD4<Double>, inset: Double = 0) {
        left = inset
        top = inset
        right = Double(size.width) - inset
        bottom = Double(size.height) - inset
        self.radii = (radii - inset).clamped(lowerBound: SIMD4(repeating: 0), upperBound: radii)
    }

    /// Writes the share of each pixel of row `y` that lies inside to `out`, and returns which pixels are inside wholly.
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

    /// Where the line at height `y` enters and leaves; nil when it misses.
    private func span(at y: Double) -> (left: Double, right: Double)? {
        guard y > top, y < bottom else { return nil }
        let start = left + indent(y, above: radii[0], below: radii[3])
        let end = right - indent(y, above: radii[1], below: radii[2])
        return start < end ? (start, end) : nil
    }

    /// How far the corners of one side push the edge in at height `y`.
    private func indent(_ y: Double, above upper: Double, below lower: Double) -> Double {
        let (fromTop, fromBottom) = (y - top, bottom - y)
        if fromTop < upper { return upper - Self.chord(upper, upper - fromTop) }
        if fromBottom < lower { return lower - Self.chord(lower, lower - fromBottom) }
        return 0
    }

    /// Half the chord of a circle at a distance from its centre that is at most the radius.
    private static func chord(_ radius: Double, _ distance: Double) -> Double {
        max(0, (radius - distance) * (radius + distance)).squareRoot()
    }
}
