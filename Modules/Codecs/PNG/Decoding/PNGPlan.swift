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
        if turn.swapsSides { try options.limits.check(finishedSize, format: format) }
    }

    var finishedSize: PixelSize {
        let reduced = reduction.size(of: header.size)
        return turn.swapsSides ? reduced.transposed : reduced
    }

    var premultiplies: Bool { alphaMode == .premultiplied }

    /// The turn that is left to be made.
    var turn: ImageOrientation { options.appliesOrientation ? info.orientation : .up }

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
            orientation: turn == .up ? info.orientation : .up)
    }

    /// Multiplies the colour of a row by its alpha.
    func premultiply(_ row: UnsafeMutableRawBufferPointer) {
        guard let base = row.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        alcedo_png_premultiply(base, header.size.width, format == .rgba16 ? 1 : 0)
    }

    /// The picture of stored rows that were reduced already.
    func image(
        _ pixels: PixelBuffer, damage: ImageDecodingError? = nil
    ) throws(ImageDecodingError) -> DecodedImage {
        DecodedImage(
            pixels: try pixels.upright(from: turn), colorProfile: info.metadata.colorProfile,
            orientation: options.appliesOrientation ? .up : info.orientation, format: .png, damage: damage)
    }
}
