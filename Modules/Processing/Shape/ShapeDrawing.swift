import AlcedoCore

/// Cuts a picture to a shape and draws its border, row by row.
final class ShapeDrawing {
    private let width: Int
    private let shape: RoundedRectangle
    private let inner: RoundedRectangle?
    private let borderColor: SIMD4<Float>
    private let shapeCoverage: Scratch<Float>
    private let innerCoverage: Scratch<Float>

    /// - Parameter radii: As ``RoundedRectangle`` wants them.
    init(_ header: PixelRowHeader, radii: SIMD4<Double>, border: Border?) {
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
