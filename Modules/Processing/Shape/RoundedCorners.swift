public import AlcedoCore

/// Makes the corners of an image round and transparent, and draws a border along the edge.
///
/// Edges are anti-aliased by the exact share of each pixel that lies inside. Works on every pixel format: `gray8` and
/// `rgbx8` become `rgba8`, opaque images get straight alpha; what is wholly outside is transparent black. Without round
/// corners only the border is drawn, and an opaque image stays opaque. The border lies over the picture. Corners are
/// those of the rows in memory, that is before ``DecodedImage/orientation``; put ``Orient`` in front where they differ.
///
/// - Complexity: O(*w* × *h*), one new buffer, or three rows.
public struct RoundedCorners: PointProcessing, Hashable {
    /// How round the corners are.
    public let radii: CornerRadii
    /// The line along the edge; nil for none.
    public let border: Border?

    /// By default without a border.
    public init(_ radii: CornerRadii, border: Border? = nil) {
        self.radii = radii
        self.border = border
    }

    public var identifier: String { "corners:\(radii)\(border.map { ",border:\($0)" } ?? "")" }

    public func work(on header: PixelRowHeader) throws(ImageProcessingError) -> PointWork? {
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
        return PointWork(format, alphaMode) { from, y, to in
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
