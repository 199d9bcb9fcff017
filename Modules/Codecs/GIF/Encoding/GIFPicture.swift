import AlcedoCore

/// A picture as GIF can show it: pixels are opaque, or transparent black.
struct GIFPicture {
    let size: PixelSize
    /// Row by row from the top, without padding; in memory red, green, blue, alpha.
    let pixels: [UInt32]

    /// Makes the rows upright, and each pixel opaque or transparent.
    ///
    /// - Throws: ``ImageEncodingError`` `unsupportedImage` when a side does not fit the format's 16 bits, or `outOfMemory`.
    init(_ stored: PixelBuffer, _ orientation: ImageOrientation) throws(ImageEncodingError) {
        let buffer: PixelBuffer
        do {
            buffer = try stored.upright(from: orientation)
        } catch {
            throw ImageEncodingError(.outOfMemory, error.message)
        }
        guard buffer.width <= 65_535, buffer.height <= 65_535 else {
            throw ImageEncodingError(.unsupportedImage, "GIF: \(buffer.size) pixels do not fit the format")
        }
        size = buffer.size
        var row = StraightRow(PixelRowHeader(size: buffer.size, format: buffer.format, alphaMode: buffer.alphaMode))
        let isOpaque = buffer.alphaMode == .opaque || buffer.format == .rgbx8 || buffer.format == .gray8
        let opaque = UInt32(littleEndian: 0xFF00_0000)
        var pixels: [UInt32] = []
        pixels.reserveCapacity(buffer.size.pixelCount)
        for y in 0..<buffer.height {
            row.convert(buffer.row(y)).withUnsafeBytes { bytes in
                for x in 0..<buffer.width {
                    let shows = isOpaque || bytes[4 * x + 3] >= 128
                    pixels.append(shows ? bytes.loadUnaligned(fromByteOffset: 4 * x, as: UInt32.self) | opaque : 0)
                }
            }
        }
        self.pixels = pixels
    }

    var bounds: PixelRect { PixelRect(x: 0, y: 0, width: size.width, height: size.height) }

    /// Whether a pixel that shows here is transparent in `next`, which has the same size.
    func hasHoles(in next: GIFPicture) -> Bool {
        zip(pixels, next.pixels).contains { $0 != 0 && $1 == 0 }
    }

    /// The smallest rectangle outside which this picture is like `other`, which has the same size; one pixel when all
    /// of it is, because an image must have some.
    func changes(from other: GIFPicture) -> PixelRect {
        let width = size.width
        let differs = { (y: Int) in pixels[y * width..<(y + 1) * width] != other.pixels[y * width..<(y + 1) * width] }
        guard let top = (0..<size.height).first(where: differs), let bottom = (0..<size.height).last(where: differs)
        else { return PixelRect(x: 0, y: 0, width: 1, height: 1) }
        var (left, right) = (width - 1, 0)
        for y in top...bottom {
            let row = y * width
            if let x = (0..<left).first(where: { pixels[row + $0] != other.pixels[row + $0] }) { left = x }
            if let x = (right..<width).last(where: { pixels[row + $0] != other.pixels[row + $0] }) { right = x }
        }
        return PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }
}
