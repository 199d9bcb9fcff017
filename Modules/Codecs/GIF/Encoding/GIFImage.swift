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

    private init(size: PixelSize, pixels: [UInt32]) { (self.size, self.pixels) = (size, pixels) }

    var bounds: PixelRect { PixelRect(x: 0, y: 0, width: size.width, height: size.height) }

    /// Returns the smallest rectangle with all visible pixels of this image that are transparent in `next`, or nil if
    /// there is none. Both images must have the same size.
    func holes(in next: GIFImage) -> PixelRect? { bounds(with: next) { $0 != 0 && $1 == 0 } }

    /// Returns the smallest rectangle with all pixels that differ from `other`, which must have the same size, or from
    /// an empty canvas for nil. Returns one pixel for equal images, because an image in a GIF cannot be empty.
    func changes(from other: GIFImage?) -> PixelRect {
        let changes = other.map { bounds(with: $0) { $0 != $1 } } ?? bounds(with: self) { pixel, _ in pixel != 0 }
        return changes ?? PixelRect(x: 0, y: 0, width: 1, height: 1)
    }

    /// Returns the number of visible pixels that differ from `other`, which must have the same size, or nil for an
    /// empty canvas.
    func changedPixelCount(from other: GIFImage?) -> Int {
        guard let other else { return pixels.reduce(0) { $0 + ($1 == 0 ? 0 : 1) } }
        return zip(pixels, other.pixels).reduce(0) { $0 + ($1.0 == 0 || $1.0 == $1.1 ? 0 : 1) }
    }

    /// Returns the smallest rectangle with all pixels that are selected by their value and that of another image.
    @inline(__always)
    private func bounds(with other: GIFImage, where isSelected: (UInt32, UInt32) -> Bool) -> PixelRect? {
        var (left, right, top, bottom) = (size.width, -1, size.height, -1)
        for y in 0..<size.height {
            let row = y * size.width
            let isInside = { isSelected(pixels[row + $0], other.pixels[row + $0]) }
            guard let first = (0..<size.width).first(where: isInside),
                let last = (first..<size.width).last(where: isInside)
            else { continue }
            (left, right) = (min(left, first), max(right, last))
            (top, bottom) = (min(top, y), y)
        }
        guard bottom >= 0 else { return nil }
        return PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }

    /// Returns the image with an area that is transparent.
    func clearing(_ area: PixelRect) -> GIFImage {
        var pixels = pixels
        for y in area.y..<area.y + area.size.height {
            for x in area.x..<area.x + area.size.width { pixels[y * size.width + x] = 0 }
        }
        return GIFImage(size: size, pixels: pixels)
    }

    /// Returns the pixels of an area. Those that are equal in `shown`, an image of the same size, are transparent.
    /// Default: nil, for all pixels.
    func part(_ area: PixelRect, hidingThoseOf shown: GIFImage? = nil) -> GIFImage {
        var part: [UInt32] = []
        part.reserveCapacity(area.size.pixelCount)
        for y in area.y..<area.y + area.size.height {
            let row = y * size.width + area.x..<y * size.width + area.x + area.size.width
            if let shown {
                for index in row { part.append(pixels[index] == shown.pixels[index] ? 0 : pixels[index]) }
            } else {
                part += pixels[row]
            }
        }
        return GIFImage(size: area.size, pixels: part)
    }

    fileprivate var rows: [ArraySlice<UInt32>] {
        (0..<size.height).map { pixels[$0 * size.width..<($0 + 1) * size.width] }
    }
}

extension PixelRect {
    /// Returns the smallest rectangle that contains both.
    func union(_ other: PixelRect) -> PixelRect {
        let (left, top) = (min(x, other.x), min(y, other.y))
        let right = max(x + size.width, other.x + other.size.width)
        let bottom = max(y + size.height, other.y + other.size.height)
        return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }
}

/// An image as indices into its palette.
struct GIFIndexedImage {
    private(set) var indices: [UInt8] = []
    /// The colors of the palette, each with the bytes of a pixel. One of them can be transparent black.
    let colors: [UInt32]
    private(set) var transparentIndex: UInt8?

    /// Keeps the exact colors of an image. Returns nil if it has more than `maximumColorCount` colors, including a
    /// transparent one.
    init?(exactly image: GIFImage, maximumColorCount: Int) {
        var palette = ExactPalette()
        var last: UInt32?
        for pixel in image.pixels where pixel != last {
            guard palette.insert(pixel) != nil, palette.colors.count <= maximumColorCount else { return nil }
            last = pixel
        }
        colors = palette.colors
        transparentIndex = palette.index(of: 0)
        indices.reserveCapacity(image.pixels.count)
        for pixel in image.pixels { indices.append(palette.index(of: pixel) ?? 0) }
    }

    /// Quantizes the colors of an image to at most `maximumColorCount`, including a transparent one.
    ///
    /// - Throws: `failed` when the work of the thread is canceled.
    init(quantizing image: GIFImage, maximumColorCount: Int, dithers: Bool) throws(ImageEncodingError) {
        var histogram = ColorHistogram()
        for row in image.rows {
            try ImageEncodingError.checkCancellation(.gif)
            row.withUnsafeBytes { histogram.add($0.bytes) }
        }
        colors = try histogram.palette(maximumCount: maximumColorCount, for: .gif)
        transparentIndex = colors.firstIndex(of: 0).map { UInt8(truncatingIfNeeded: $0) }
        indices.reserveCapacity(image.pixels.count)
        var mapper = PaletteMapper(colors, width: image.size.width, dithers: dithers)
        for row in image.rows {
            try ImageEncodingError.checkCancellation(.gif)
            row.withUnsafeBytes { mapper.append($0.bytes, to: &indices) }
        }
    }

    /// Returns the lowest index that no pixel has, or nil if there is none below `count`.
    func unusedIndex(below count: Int) -> UInt8? {
        var isUsed = [Bool](repeating: false, count: 256)
        for index in indices { isUsed[Int(index)] = true }
        return isUsed[..<count].firstIndex(of: false).map { UInt8($0) }
    }

    /// Returns the image with other indices, one for each color of the palette.
    func mapped(to others: [UInt8]) -> GIFIndexedImage {
        guard !others.elementsEqual(0..<UInt8(clamping: others.count)) else { return self }
        var image = self
        image.transparentIndex = transparentIndex.map { others[Int($0)] }
        for position in image.indices.indices { image.indices[position] = others[Int(image.indices[position])] }
        return image
    }
}
