import AlcedoCore
import CPNGShim

/// The palette of an image with at most 256 colors. Its indices have the smallest possible number of bits.
struct PNGPalette {
    /// Four bytes per color. Colors that are not opaque come first, because `tRNS` lists alpha values from the first
    /// color on.
    private let colors: [UInt8]
    private let transparentCount: Int
    private let bitDepth: Int
    private let source: Source
    /// The position in `colors` of each color of the source.
    private let positions: [UInt8]

    private enum Source {
        /// All colors of an image.
        case exact(ExactPalette)
        /// Colors to which those of an image are mapped.
        case nearest([UInt32], dithers: Bool)
    }

    /// Whether an image of this kind can be stored with a palette if it has few colors.
    static func canStore(_ header: PixelRowHeader) -> Bool {
        header.format == .rgba8 && header.alphaMode != .premultiplied && !header.isGrayWithAlpha
    }

    /// Creates the palette of an image with these colors.
    init(_ palette: ExactPalette) { self.init(palette.colors, .exact(palette)) }

    /// Creates a palette of 1 to 256 colors, to which those of an image are mapped.
    init(_ colors: [UInt32], dithers: Bool) { self.init(colors, .nearest(colors, dithers: dithers)) }

    private init(_ palette: [UInt32], _ source: Source) {
        let alphas = palette.map { UInt8(truncatingIfNeeded: UInt32(littleEndian: $0) >> 24) }
        let order = alphas.indices.filter { alphas[$0] < 255 } + alphas.indices.filter { alphas[$0] == 255 }
        var positions = [UInt8](repeating: 0, count: order.count)
        for (position, index) in order.enumerated() { positions[index] = UInt8(position) }
        self.source = source
        self.positions = positions
        colors = order.flatMap { index in withUnsafeBytes(of: palette[index]) { Array($0) } }
        transparentCount = alphas.count { $0 < 255 }
        bitDepth = palette.count <= 2 ? 1 : palette.count <= 4 ? 2 : palette.count <= 16 ? 4 : 8
    }

    /// Whether a palette saves bytes before compression.
    func isSmaller(than header: PixelRowHeader) -> Bool {
        let chunks = 12 + 3 * positions.count + (transparentCount > 0 ? 12 + transparentCount : 0)
        let channels = header.alphaMode == .opaque ? 3 : 4
        return chunks + header.size.pixelCount * bitDepth / 8 < header.size.pixelCount * channels
    }

    /// Creates a writer of indices. `settings` are those of an image without a palette.
    ///
    /// - Parameter animation: The chunks with the properties of the animation and of its first frame.
    func writer(
        _ settings: alcedo_png_settings, _ header: PixelRowHeader, _ metadata: ImageMetadata, animation: [UInt8] = []
    ) throws(ImageEncodingError) -> PNGWriter {
        var settings = settings
        settings.color_type = 3
        settings.drops_alpha = 0
        settings.bit_depth = Int32(bitDepth)
        settings.transparent_count = transparentCount
        return try PNGWriter(
            settings, palette: colors, colorProfile: header.colorProfile, metadata: metadata,
            orientation: header.orientation, animation: animation)
    }

    /// Returns the index to store for an index of the palette that the colors came from.
    func position(_ index: UInt8) -> UInt8 { positions[Int(index)] }

    /// Returns the indices of the pixels in an area, one byte each.
    ///
    /// - Parameters:
    ///   - pixels: Straight or opaque RGBA8.
    ///   - area: A rectangle inside the image.
    /// - Throws: `failed` when the work of the thread is canceled.
    func indices(of pixels: PixelBuffer, in area: PixelRect) throws(ImageEncodingError) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(area.size.pixelCount)
        let columns = 4 * area.x..<4 * (area.x + area.size.width)
        switch source {
        case .exact(let palette):
            for y in area.y..<area.y + area.size.height {
                try ImageEncodingError.checkCancellation(.png)
                let row = pixels.row(y)
                var last: (color: UInt32, index: UInt8)?
                for offset in stride(from: columns.lowerBound, to: columns.upperBound, by: 4) {
                    let color = row.unsafeLoad(fromByteOffset: offset, as: UInt32.self)
                    if color != last?.color { last = (color, positions[Int(palette.index(of: color) ?? 0)]) }
                    result.append(last?.index ?? 0)
                }
            }
        case .nearest(let colors, let dithers):
            var mapper = PaletteMapper(colors, width: area.size.width, dithers: dithers)
            for y in area.y..<area.y + area.size.height {
                try ImageEncodingError.checkCancellation(.png)
                mapper.append(pixels.row(y).extracting(columns), to: &result)
            }
            for index in result.indices { result[index] = positions[Int(result[index])] }
        }
        return result
    }
}

/// The colors of an image, or of all frames of an animation, from which a palette is made.
struct PNGColorCounter {
    private let maximumCount: Int
    /// The colors so far; nil when there are too many.
    private var exact: ExactPalette? = ExactPalette()
    /// The colors that are reduced when there are too many; nil if they must be exact.
    private var histogram: ColorHistogram?

    /// Creates a counter without colors.
    ///
    /// - Parameter maximumCount: The maximum number of colors, to which more are reduced. With nil, there is no palette
    ///   if the colors are more than 256.
    init(maximumCount: Int?) {
        self.maximumCount = min(max(maximumCount ?? ExactPalette.maximumCount, 2), ExactPalette.maximumCount)
        histogram = maximumCount == nil ? nil : ColorHistogram()
    }

    /// Adds the pixels of an image in straight or opaque RGBA8. Returns false if it has too many colors for a palette.
    ///
    /// - Throws: `failed` when the work of the thread is canceled.
    mutating func add(_ pixels: PixelBuffer) throws(ImageEncodingError) -> Bool {
        for y in 0..<pixels.height {
            try ImageEncodingError.checkCancellation(.png)
            if exact != nil, !insert(pixels.row(y)) { exact = nil }
            histogram?.add(pixels.row(y))
            guard exact != nil || histogram != nil else { return false }
        }
        return true
    }

    /// Inserts the colors of a row into the exact palette. Returns false if they do not fit.
    private mutating func insert(_ row: RawSpan) -> Bool {
        var last: UInt32?
        for offset in stride(from: 0, to: row.byteCount, by: 4) {
            let color = row.unsafeLoad(fromByteOffset: offset, as: UInt32.self)
            guard color != last else { continue }
            guard let index = exact?.insert(color), Int(index) < maximumCount else { return false }
            last = color
        }
        return true
    }

    /// Returns the palette of the colors. The calls of ``add(_:)`` must have returned true.
    ///
    /// - Throws: `failed` when the work of the thread is canceled.
    func palette(dithers: Bool) throws(ImageEncodingError) -> PNGPalette {
        if let exact { return PNGPalette(exact) }
        let colors = try histogram?.palette(maximumCount: maximumCount, for: .png) ?? []
        return PNGPalette(colors, dithers: dithers)
    }
}
