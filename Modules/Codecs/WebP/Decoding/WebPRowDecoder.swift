import AlcedoCore
import CWebP

/// libwebp's incremental decoder: writes one frame's rows, from the top, as its bytes arrive.
///
/// libwebp keeps the address of its configuration, so that is allocated by hand and stays where it is.
final class WebPRowDecoder {
    /// Rows that it writes.
    let height: Int
    private let config: UnsafeMutablePointer<WebPDecoderConfig>
    private let decoder: OpaquePointer
    private var status = VP8_STATUS_SUSPENDED

    /// Rows from the top that are finished; libwebp never looks at them again.
    private(set) var rowCount = 0

    /// - Parameters:
    ///   - configuration: Where the rows go; that memory must stay there until the last ``advance(_:)``.
    ///   - height: Rows that it writes.
    /// - Throws: `outOfMemory`.
    init(_ configuration: WebPDecoderConfig, height: Int) throws(ImageDecodingError) {
        let config = UnsafeMutablePointer<WebPDecoderConfig>.allocate(capacity: 1)
        config.initialize(to: configuration)
        guard let decoder = WebPIDecode(nil, 0, config) else {
            config.deallocate()
            throw ImageDecodingError(.outOfMemory, "WebP: there is no memory to decode with")
        }
        self.height = height
        self.config = config
        self.decoder = decoder
    }

    /// Writes straight RGBA8.
    ///
    /// - Parameters:
    ///   - size: That of the picture to make; libwebp scales when it is another than the frame's.
    ///   - memory: Where the rows go.
    /// - Throws: `outOfMemory`.
    convenience init(
        _ frame: WebPFrame, size: PixelSize, into memory: UnsafeMutableRawBufferPointer, bytesPerRow: Int
    ) throws(ImageDecodingError) {
        // No threads: their work would be waited for at the end of every piece.
        try self.init(
            WebPSettings(usesThreads: false).configuration(
                from: frame.area.size, to: size, memory, bytesPerRow: bytesPerRow),
            height: size.height)
    }

    deinit {
        WebPIDelete(decoder)
        config.deallocate()
    }

    /// Decodes as far as the bytes reach. `bytes` are all of the frame's so far; they need not lie where they lay.
    ///
    /// - Throws: What is wrong with them; that they end early is said by ``requireComplete()`` only.
    func advance(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) {
        guard status == VP8_STATUS_SUSPENDED, !bytes.isEmpty else { return }
        status = WebPIUpdate(decoder, bytes.baseAddress, bytes.count)
        if status == VP8_STATUS_NOT_ENOUGH_DATA { status = VP8_STATUS_SUSPENDED }
        var (left, top, width, rows) = (Int32(0), Int32(0), Int32(0), Int32(0))
        if WebPIDecodedArea(decoder, &left, &top, &width, &rows) != nil {
            rowCount = max(rowCount, min(Int(rows), height))
        }
        guard status == VP8_STATUS_OK || status == VP8_STATUS_SUSPENDED else {
            throw ImageDecodingError(libwebp: status)
        }
    }

    /// Whether libwebp has found the whole frame good.
    var isComplete: Bool { status == VP8_STATUS_OK }

    /// Throws `truncated` when rows are missing, or again what was wrong.
    func requireComplete() throws(ImageDecodingError) {
        guard isComplete else { throw ImageDecodingError(libwebp: status) }
    }
}

/// How libwebp works; the pixels are the same.
struct WebPSettings: Sendable {
    /// Whether a second thread may help with a large picture.
    var usesThreads: Bool

    /// Below this many pixels a thread costs more than it brings.
    private static let threadedPixelCount = 1 << 18

    /// What libwebp needs to know to write straight RGBA8 into `memory`.
    ///
    /// - Parameters:
    ///   - size: The frame's own.
    ///   - outputSize: The size of the memory's picture; libwebp scales when it is another than the frame's.
    func configuration(
        from size: PixelSize, to outputSize: PixelSize, _ memory: UnsafeMutableRawBufferPointer, bytesPerRow: Int
    ) throws(ImageDecodingError) -> WebPDecoderConfig {
        var config = try Self.started()
        if outputSize != size {
            config.options.use_scaling = 1
            config.options.scaled_width = Int32(clamping: outputSize.width)
            config.options.scaled_height = Int32(clamping: outputSize.height)
        }
        config.options.use_threads = usesThreads && size.pixelCount >= Self.threadedPixelCount ? 1 : 0
        config.output.colorspace = MODE_RGBA
        config.output.is_external_memory = 1
        config.output.u.RGBA.rgba = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        // Fits 32 bits because no frame is wider than 2^24 pixels.
        config.output.u.RGBA.stride = Int32(clamping: bytesPerRow)
        config.output.u.RGBA.size = memory.count
        return config
    }

    /// What libwebp needs to know to write a lossy frame's luma and chroma, without its filter between blocks, each plane
    /// without padding.
    static func planes(
        _ luma: UnsafeMutableRawBufferPointer, width lumaWidth: Int, blue: UnsafeMutableRawBufferPointer,
        red: UnsafeMutableRawBufferPointer, width chromaWidth: Int
    ) throws(ImageDecodingError) -> WebPDecoderConfig {
        var config = try started()
        config.options.bypass_filtering = 1
        config.output.colorspace = MODE_YUV
        config.output.is_external_memory = 1
        config.output.u.YUVA.y = luma.baseAddress?.assumingMemoryBound(to: UInt8.self)
        config.output.u.YUVA.y_stride = Int32(clamping: lumaWidth)
        config.output.u.YUVA.y_size = luma.count
        config.output.u.YUVA.u = blue.baseAddress?.assumingMemoryBound(to: UInt8.self)
        config.output.u.YUVA.u_stride = Int32(clamping: chromaWidth)
        config.output.u.YUVA.u_size = blue.count
        config.output.u.YUVA.v = red.baseAddress?.assumingMemoryBound(to: UInt8.self)
        config.output.u.YUVA.v_stride = Int32(clamping: chromaWidth)
        config.output.u.YUVA.v_size = red.count
        return config
    }

    private static func started() throws(ImageDecodingError) -> WebPDecoderConfig {
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else {
            throw ImageDecodingError(.outOfMemory, "libwebp could not be started")
        }
        return config
    }
}
