import AlcedoCore
import CWebP

/// libwebp's incremental decoder, which writes the rows of one frame from the top while the bytes arrive.
///
/// libwebp keeps the address of its configuration, so the configuration is allocated manually and does not move.
final class WebPRowDecoder {
    /// The number of rows that the decoder writes.
    let height: Int
    private let config: UnsafeMutablePointer<WebPDecoderConfig>
    private let decoder: OpaquePointer
    private var status = VP8_STATUS_SUSPENDED

    /// The number of finished rows from the top. libwebp does not access them again.
    private(set) var rowCount = 0

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - configuration: The configuration with the memory for the rows, which must not move before the last
    ///     ``advance(_:)``.
    ///   - height: The number of rows that the decoder writes.
    /// - Throws: `outOfMemory`.
    init(_ configuration: WebPDecoderConfig, height: Int) throws(ImageDecodingError) {
        let config = UnsafeMutablePointer<WebPDecoderConfig>.allocate(capacity: 1)
        config.initialize(to: configuration)
        guard let decoder = WebPIDecode(nil, 0, config) else {
            config.deallocate()
            throw ImageDecodingError(.outOfMemory, "WebP: cannot decode: out of memory")
        }
        self.height = height
        self.config = config
        self.decoder = decoder
    }

    /// Creates a decoder that writes straight RGBA8.
    ///
    /// - Parameters:
    ///   - frame: The frame.
    ///   - size: The size of the output. libwebp scales the image when it differs from the size of the frame.
    ///   - memory: The memory for the rows.
    ///   - bytesPerRow: The distance between the starts of two rows in bytes.
    /// - Throws: `outOfMemory`.
    convenience init(
        _ frame: WebPFrame, size: PixelSize, into memory: UnsafeMutableRawBufferPointer, bytesPerRow: Int
    ) throws(ImageDecodingError) {
        // No threads, because every piece would wait for them at its end.
        try self.init(
            WebPSettings(usesThreads: false).configuration(
                from: frame.area.size, to: size, memory, bytesPerRow: bytesPerRow),
            height: size.height)
    }

    deinit {
        WebPIDelete(decoder)
        config.deallocate()
    }

    /// Decodes as far as bytes are available. `bytes` contains all bytes of the frame received so far, and may move
    /// between calls. Does nothing after an error or the end of the frame.
    ///
    /// - Throws: The error of invalid bytes, or `outOfMemory`. Missing bytes are reported only by
    ///   ``requireComplete()``.
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

    /// Whether libwebp has decoded the whole frame successfully.
    var isComplete: Bool { status == VP8_STATUS_OK }

    /// Throws `truncated` when rows are missing, or the error of an earlier ``advance(_:)``.
    func requireComplete() throws(ImageDecodingError) {
        guard isComplete else { throw ImageDecodingError(libwebp: status) }
    }
}

/// The settings from which configurations of libwebp are created.
struct WebPSettings: Sendable {
    /// Whether a second thread may be used for a large image. This does not change the pixels.
    var usesThreads: Bool

    /// The minimum number of pixels for which a second thread may be used.
    private static let threadedPixelCount = 1 << 18

    /// Returns the configuration that writes straight RGBA8 into `memory`.
    ///
    /// - Parameters:
    ///   - size: The size of the frame.
    ///   - outputSize: The size of the output. libwebp scales the image when it differs from `size`.
    ///   - memory: The memory for the rows.
    ///   - bytesPerRow: The distance between the starts of two rows in bytes.
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
        // The value fits in 32 bits, because no output is wider than 2^24 pixels.
        config.output.u.RGBA.stride = Int32(clamping: bytesPerRow)
        config.output.u.RGBA.size = memory.count
        return config
    }

    /// Returns the configuration that writes the luma and chroma planes of a lossy frame without padding and without
    /// the filter between blocks.
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
            throw ImageDecodingError(
                .outOfMemory, "WebP: cannot initialize libwebp: the library version does not match")
        }
        return config
    }
}
