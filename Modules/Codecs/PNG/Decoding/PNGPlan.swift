import AlcedoCore
private import CPNGShim
import FoundationEssentials

/// The conversion from the stored rows of one image to the finished image.
struct PNGPlan {
    /// The approximate size of a batch of rows that ``PNGReader`` reads. A batch has at least one row.
    static let batchByteCount = 32 << 10

    let header: PNGHeader
    let info: ImageInfo
    let options: DecodingOptions
    let format: PixelFormat
    /// The alpha mode of the finished image if it is complete.
    let alphaMode: AlphaMode
    let reduction: BoxReduction

    init(_ header: PNGHeader, _ info: ImageInfo, _ options: DecodingOptions) {
        self.header = header
        self.info = info
        self.options = options
        format = header.format(for: options.pixelFormat)
        alphaMode = !header.hasAlpha ? .opaque : options.alphaMode == .premultiplied ? .premultiplied : .straight
        reduction = BoxReduction(from: header.size, orientation: info.orientation, towards: options.averagingTarget)
    }

    /// Checks the size of the image as stored, and of the finished image if its sides are swapped. When a wide and low
    /// image is rotated by 90 degrees, the padding of its many short rows takes much more memory.
    ///
    /// - Throws: `exceedsLimit` when one of the sizes exceeds the limits.
    func check() throws(ImageDecodingError) {
        try options.limits.check(header.size, format: format)
        if pendingOrientation.swapsSides { try options.limits.check(finishedSize, format: format) }
    }

    /// Throws the error of damage that the options do not tolerate. `error` is the error that ended decoding. Exhausted
    /// memory is never tolerated.
    func check(_ damage: ImageDamage?, _ error: ImageDecodingError?) throws(ImageDecodingError) {
        if let error, error.code == .outOfMemory { throw error }
        try options.check(damage)
    }

    var finishedSize: PixelSize {
        let reduced = reduction.size(of: header.size)
        return pendingOrientation.swapsSides ? reduced.transposed : reduced
    }

    var premultiplies: Bool { alphaMode == .premultiplied }

    /// The rotation that must still be applied.
    var pendingOrientation: ImageOrientation { options.appliesOrientation ? info.orientation : .up }

    /// Whether the image can be decoded row by row.
    var streams: Bool { !header.isInterlaced }

    /// Whether decoding that is not incremental reduces rows as they are read, without a full-size buffer.
    var isReducedByRows: Bool { streams && reduction.factor > 1 }

    /// The alpha mode of a buffer in which rows may be missing. If the options allow partial images, it is not opaque
    /// unless the format is gray, so that missing rows are transparent.
    var openAlphaMode: AlphaMode {
        options.allowsPartial && alphaMode == .opaque && !format.isGray ? .straight : alphaMode
    }

    /// The plan for the same image in a pixel format with alpha.
    var withAlphaChannel: PNGPlan {
        var other = options
        other.pixelFormat = .rgba8
        return PNGPlan(header, info, other)
    }

    /// The header for a consumer of the stored rows.
    var rowHeader: PixelRowHeader {
        PixelRowHeader(
            size: header.size, format: format, alphaMode: alphaMode, colorProfile: info.sampleProfile,
            orientation: pendingOrientation == .up ? info.orientation : .up)
    }

    /// Multiplies the color of a row by its alpha.
    func premultiply(_ row: UnsafeMutableRawBufferPointer) {
        guard let base = row.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        alcedo_png_premultiply(base, header.size.width, format == .rgba16 ? 1 : 0)
    }

    /// Returns the image for stored rows that have already been reduced.
    func image(
        _ pixels: PixelBuffer, damage: ImageDamage? = nil
    ) throws(ImageDecodingError) -> DecodedImage {
        DecodedImage(
            pixels: try pixels.upright(from: pendingOrientation), colorProfile: info.sampleProfile,
            orientation: options.appliesOrientation ? .up : info.orientation, format: .png,
            damage: .worst(damage, info.metadataDamage))
    }
}

extension PNGPlan {
    /// The maximum number of bytes that pixels and readers take during decoding, including for a damaged file. Two
    /// readers can exist at the same time. The rows of a file without an animation can be passed on, by one reader.
    func byteCount(isStill: Bool) -> Int {
        if isStill, options.passesRows, streams, pendingOrientation == .up {
            return Self.sum([
                Self.batchByteCount, rowHeader.bytesPerRow, inflatedByteCount, readerByteCount(readerCount: 1),
            ])
        }
        // A partial gray image has an alpha channel.
        let output = options.allowsPartial && format.isGray ? withAlphaChannel : self
        return Self.sum([
            reduction.factor > 1 ? output.reducedByteCount : 0,
            isReducedByRows ? Self.batchByteCount + output.pushedByteCount : output.storedByteCount,
            pendingOrientation == .up ? 0 : output.finishedByteCount, inflatedByteCount,
            readerByteCount(readerCount: 2),
        ])
    }

    /// The maximum number of bytes that the image, one preview and the reader take before incremental decoding
    /// finishes. When a preview shares the memory of the image, decoding the next rows copies the image.
    var incrementalByteCount: Int {
        let sharesMemory = reduction.factor == 1 && pendingOrientation == .up
        return Self.sum([
            storedByteCount, premultiplies || sharesMemory ? storedByteCount : 0,
            reduction.factor > 1 ? reducedByteCount : 0, pendingOrientation == .up ? 0 : finishedByteCount,
            readerByteCount(readerCount: 2),
        ])
    }

    /// The maximum number of rows that a piece of ``pushedPieceByteCount`` bytes completes.
    var pushedRowCount: Int {
        let (stored, inflated) = (
            header.storedBytesPerRow, (Self.minimumPieceByteCount + Self.bufferedByteCount) * Self.inflation
        )
        let minimumRowCount = 2 + (inflated + stored - 1) / stored
        return min(max(Self.pushedBatchByteCount / rowHeader.bytesPerRow, minimumRowCount), header.size.height)
    }

    /// The maximum number of bytes to pass to the progressive reader at once, so that the decoded rows fit.
    var pushedPieceByteCount: Int {
        guard pushedRowCount < header.size.height else { return .max }
        let inflated = (pushedRowCount - 2) * header.storedBytesPerRow
        return inflated / Self.inflation - Self.bufferedByteCount
    }

    /// The size of a buffer for ``pushedRowCount`` rows.
    var pushedByteCount: Int { pushedRowCount * rowHeader.bytesPerRow }

    /// The preferred size of a buffer for the rows of one piece.
    private static let pushedBatchByteCount = 128 << 10

    /// The minimum of ``pushedPieceByteCount``. The call for each piece takes far longer than decoding one byte.
    private static let minimumPieceByteCount = 16

    /// The maximum expansion of one Deflate byte: four pairs of one-bit codes, each pair a match of 258 bytes.
    private static let inflation = 4 * 258

    /// The maximum number of compressed bytes that zlib has read without returning their output, including a match that
    /// has begun.
    private static let bufferedByteCount = 9

    private var storedByteCount: Int { PixelBuffer.byteCount(size: header.size, format: format) ?? Int.max }

    private var reducedByteCount: Int {
        PixelBuffer.byteCount(size: reduction.size(of: header.size), format: format) ?? Int.max
    }

    private var finishedByteCount: Int { PixelBuffer.byteCount(size: finishedSize, format: format) ?? Int.max }

    /// The maximum size of the filtered rows and of the compressed bytes when the rows are inflated at once.
    private var inflatedByteCount: Int {
        let (size, overflow) = header.storedBytesPerRow.multipliedReportingOverflow(by: header.size.height)
        return overflow || size > PNGReader.maximumInflatedByteCount ? 0 : 2 * size
    }

    private func readerByteCount(readerCount: Int) -> Int {
        let rows = header.size.width.multipliedReportingOverflow(by: 16 * readerCount)
        return rows.overflow ? Int.max : Self.sum([rows.partialValue, 256 << 10])
    }

    private static func sum(_ parts: [Int]) -> Int {
        parts.reduce(0) { $0.addingClamped($1) }
    }
}
