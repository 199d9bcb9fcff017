import AlcedoCore

/// An image in which every pixel is opaque or transparent black.
struct GIFImage {
    let size: PixelSize
    /// The pixels row by row from the top, without padding. Red, green, blue and alpha in memory order.
    let pixels: [UInt32]

    /// Makes the rows upright, and each pixel opaque or transparent.
    ///
    /// - Throws: ``/AlcedoCore/ImageEncodingError``: `unsupportedImage` when a side does not fit in the format's 16
    ///   bits, or `outOfMemory`.
    init(_ stored: PixelBuffer, _ orientation: ImageOrientation) throws(ImageEncodingError) {
        let buffer: PixelBuffer
        do {
            buffer = try stored.upright(from: orientation)
        } catch {
            throw ImageEncodingError(.outOfMemory, error.message)
        }
        guard buffer.width <= 65_535, buffer.height <= 65_535 else {
            throw ImageEncodingError(.unsupportedImage, "GIF: the format cannot store \(buffer.size) pixels")
        }
        size = buffer.size
        let header = PixelRowHeader(size: buffer.size, format: buffer.format, alphaMode: buffer.alphaMode)
        var row = StraightRowConverter(header)
        let isOpaque = buffer.alphaMode == .opaque || !buffer.format.hasAlpha
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

    /// Returns whether a visible pixel of this image is transparent in `next`, which must have the same size.
    func hasHoles(in next: GIFImage) -> Bool {
        zip(pixels, next.pixels).contains { $0 != 0 && $1 == 0 }
    }

    /// Returns the smallest rectangle with all pixels that differ from `other`, which must have the same size. Returns
    /// one pixel for equal images, because an image in a GIF cannot be empty.
    func changes(from other: GIFImage) -> PixelRect {
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

/// A part of an image, as indices into its own palette.
struct GIFIndexedImage {
    private(set) var indices: [UInt8] = []
    /// The red, green and blue of each color.
    let palette: [UInt8]
    let transparentIndex: Int?

    /// Keeps the exact colors of an area with at most `maximumColorCount` colors, including a transparent one.
    /// Quantizes the colors of any other area. `area` must not be empty.
    ///
    /// - Throws: `failed` when the work of the thread is canceled.
    init(
        _ image: GIFImage, in area: PixelRect, maximumColorCount: Int, dithers: Bool
    ) throws(ImageEncodingError) {
        let rows = (area.y..<area.y + area.size.height).map { y in
            let start = y * image.size.width + area.x
            return image.pixels[start..<start + area.size.width]
        }
        indices.reserveCapacity(area.size.pixelCount)
        if let exact = Self.exactPalette(rows, maximumColorCount: maximumColorCount) {
            palette = exact.colors.flatMap { GIFColor($0).bytes }
            transparentIndex = exact.index(of: 0).map(Int.init)
            for row in rows { for pixel in row { indices.append(exact.index(of: pixel) ?? 0) } }
            return
        }
        let isTransparent = rows.contains { $0.contains(0) }
        let colors = try MedianCut.colors(of: rows, maximumCount: maximumColorCount - (isTransparent ? 1 : 0))
        palette = colors.flatMap(\.bytes) + (isTransparent ? [0, 0, 0] : [])
        transparentIndex = isTransparent ? colors.count : nil
        var mapper = GIFColorMapper(colors, width: area.size.width, dithers: dithers)
        for row in rows {
            try ImageEncodingError.checkCancellation(.gif)
            mapper.append(row, transparentIndex: transparentIndex ?? 0, to: &indices)
        }
    }

    private static func exactPalette(_ rows: [ArraySlice<UInt32>], maximumColorCount: Int) -> ExactPalette? {
        var palette = ExactPalette()
        for row in rows {
            var last: UInt32?
            for pixel in row where pixel != last {
                guard palette.insert(pixel) != nil, palette.colors.count <= maximumColorCount else { return nil }
                last = pixel
            }
        }
        return palette
    }
}
