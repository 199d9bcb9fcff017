import AlcedoCore
private import CPNGShim
import FoundationEssentials

/// What becomes of the stored rows of one picture.
struct PNGPlan {
    /// Rows are read in batches of about this size, at least one.
    static let batchByteCount = 32 << 10

    let header: PNGHeader
    let info: ImageInfo
    let options: DecodingOptions
    let format: PixelFormat
    /// Of the finished picture.
    let alphaMode: AlphaMode
    let reduction: BoxReduction

    init(_ header: PNGHeader, _ info: ImageInfo, _ options: DecodingOptions) {
        self.header = header
        self.info = info
        self.options = options
        format = header.format(for: options.pixelFormat)
        alphaMode = !header.hasAlpha ? .opaque : options.alphaMode == .premultiplied ? .premultiplied : .straight
        reduction = BoxReduction(from: header.size, orientation: info.orientation, towards: options.target)
    }

    /// - Throws: `exceedsLimit` where the picture does, as it is stored or as it is turned: what is wide and low has few
    ///   bytes of padding in its rows, and on its side many.
    func check() throws(ImageDecodingError) {
        try options.limits.check(header.size, format: format)
        if pendingOrientation.swapsSides { try options.limits.check(finishedSize, format: format) }
    }

    var finishedSize: PixelSize {
        let reduced = reduction.size(of: header.size)
        return pendingOrientation.swapsSides ? reduced.transposed : reduced
    }

    var premultiplies: Bool { alphaMode == .premultiplied }

    /// The turn that is left to be made.
    var pendingOrientation: ImageOrientation { options.appliesOrientation ? info.orientation : .up }

    /// Whether the picture can be made row by row.
    var streams: Bool { !header.isInterlaced }

    /// Whether only the reduced picture is in memory.
    var isReducedByRows: Bool { streams && reduction.factor > 1 }

    /// Alpha while rows may still be found missing: these will be transparent.
    var openAlphaMode: AlphaMode {
        options.allowsPartial && alphaMode == .opaque && format != .gray8 ? .straight : alphaMode
    }

    /// The same picture in samples that can be transparent.
    var withAlphaChannel: PNGPlan {
        var other = options
        other.pixelFormat = .rgba8
        return PNGPlan(header, info, other)
    }

    /// What a consumer of the stored rows is told.
    var rowHeader: PixelRowHeader {
        PixelRowHeader(
            size: header.size, format: format, alphaMode: alphaMode, colorProfile: info.metadata.colorProfile,
            orientation: pendingOrientation == .up ? info.orientation : .up)
    }

    /// Multiplies the colour of a row by its alpha.
    func premultiply(_ row: UnsafeMutableRawBufferPointer) {
        guard let base = row.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        alcedo_png_premultiply(base, header.size.width, format == .rgba16 ? 1 : 0)
    }

    /// The picture of stored rows that were reduced already.
    func image(
        _ pixels: PixelBuffer, partialError: ImageDecodingError? = nil
    ) throws(ImageDecodingError) -> DecodedImage {
        DecodedImage(
            pixels: try pixels.upright(from: pendingOrientation), colorProfile: info.metadata.colorProfile,
            orientation: options.appliesOrientation ? .up : info.orientation, format: .png, partialError: partialError)
    }
}

extension PNGPlan {
    /// The maximum number of bytes that decoding holds, also of a damaged file: what it makes, what it turns that into,
    /// rows and batches of them, and what two readers of libpng and zlib need (each a window of 32 KiB, two rows, and
    /// their states).
    var byteCount: Int {
        // A part of a gray picture has an alpha channel.
        let made = options.allowsPartial && format == .gray8 ? withAlphaChannel : self
        return Self.sum([
            reduction.factor > 1 ? made.reducedByteCount : 0,
            isReducedByRows ? Self.batchByteCount + made.pushedByteCount : made.storedByteCount,
            pendingOrientation == .up ? 0 : made.finishedByteCount, readerByteCount,
        ])
    }

    /// The maximum number of bytes that decoding holds while the bytes come, previews included: the whole picture, and
    /// what a preview makes of it. The next rows copy the picture when a preview shares its memory.
    var incrementalByteCount: Int {
        let sharesMemory = reduction.factor == 1 && pendingOrientation == .up
        return Self.sum([
            storedByteCount, premultiplies || sharesMemory ? storedByteCount : 0,
            reduction.factor > 1 ? reducedByteCount : 0, pendingOrientation == .up ? 0 : finishedByteCount,
            readerByteCount,
        ])
    }

    /// Rows that a piece of ``pushedPieceByteCount`` completes at most.
    var pushedRowCount: Int {
        let (stored, inflated) = (
            header.storedBytesPerRow, (Self.minimumPieceByteCount + Self.bufferedByteCount) * Self.inflation
        )
        let fewest = 2 + (inflated + stored - 1) / stored
        return min(max(Self.pushedBatchByteCount / rowHeader.bytesPerRow, fewest), header.size.height)
    }

    /// Bytes that the progressive reader gets at once, so that the rows fit.
    var pushedPieceByteCount: Int {
        guard pushedRowCount < header.size.height else { return .max }
        let inflated = (pushedRowCount - 2) * header.storedBytesPerRow
        return inflated / Self.inflation - Self.bufferedByteCount
    }

    /// Bytes of the rows that the progressive reader makes at once.
    var pushedByteCount: Int { pushedRowCount * rowHeader.bytesPerRow }

    /// About as many bytes of rows are made at once.
    private static let pushedBatchByteCount = 128 << 10

    /// The least bytes of a piece: the call for each takes far longer than one byte does.
    private static let minimumPieceByteCount = 16

    /// The most bytes that one of Deflate becomes: four pairs of codes of one bit, each a match of 258 bytes.
    private static let inflation = 4 * 258

    /// Compressed bytes that zlib may hold back, a match that it has begun included.
    private static let bufferedByteCount = 9

    private var storedByteCount: Int { PixelBuffer.byteCount(size: header.size, format: format) ?? Int.max }

    private var reducedByteCount: Int {
        PixelBuffer.byteCount(size: reduction.size(of: header.size), format: format) ?? Int.max
    }

    private var finishedByteCount: Int { PixelBuffer.byteCount(size: finishedSize, format: format) ?? Int.max }

    private var readerByteCount: Int {
        let rows = header.size.width.multipliedReportingOverflow(by: 32)
        return rows.overflow ? Int.max : Self.sum([rows.partialValue, 256 << 10])
    }

    private static func sum(_ parts: [Int]) -> Int {
        parts.reduce(0) { sum, part in
            let (total, overflow) = sum.addingReportingOverflow(part)
            return overflow ? Int.max : total
        }
    }
}
