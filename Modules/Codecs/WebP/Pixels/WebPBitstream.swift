import AlcedoCore
import CWebP

/// One frame's pixels as libwebp reads them.
struct WebPBitstream {
    private let bytes: UnsafeBufferPointer<UInt8>
    let size: PixelSize
    /// Lossless data only hint at this: their pixels may have alpha all the same. RFC 9649 section 3.4.
    let declaresAlpha: Bool
    let isLossless: Bool

    /// Reads the header. The bytes must outlive the value.
    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) {
        var features = WebPBitstreamFeatures()
        let status = WebPGetFeatures(bytes.baseAddress, bytes.count, &features)
        guard status == VP8_STATUS_OK else { throw Self.error(status) }
        self.bytes = bytes
        size = PixelSize(width: Int(features.width), height: Int(features.height))
        declaresAlpha = features.has_alpha != 0
        isLossless = features.format == 2
    }

    /// How libwebp works; the pixels are the same.
    struct Settings: Sendable {
        /// Whether a second thread may help with a large picture.
        var usesThreads: Bool

        /// Below this many pixels a thread costs more than it brings.
        fileprivate static let threadedPixelCount = 1 << 18
    }

    /// Decodes into a buffer of straight RGBA8, scaled by libwebp when `outputSize` is not the frame's own.
    func pixels(
        size outputSize: PixelSize, _ settings: Settings
    ) throws(ImageDecodingError) -> PixelBuffer {
        let pixels = try PixelBuffer(size: outputSize, format: .rgba8, alphaMode: .straight) {
            (memory, stride) throws(ImageDecodingError) in
            var config = try Self.configuration(from: size, to: outputSize, settings)
            defer { WebPFreeDecBuffer(&config.output) }
            config.output.is_external_memory = 1
            config.output.u.RGBA.rgba = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
            // Fits 32 bits because no canvas is wider than 2^24 pixels.
            config.output.u.RGBA.stride = Int32(clamping: stride)
            config.output.u.RGBA.size = memory.count
            let status = WebPDecode(bytes.baseAddress, bytes.count, &config)
            guard status == VP8_STATUS_OK else { throw Self.error(status) }
        }
        guard let pixels else { throw ImageDecodingError(.outOfMemory, "there is no memory for \(outputSize) pixels") }
        return pixels
    }

    /// What libwebp needs to know to make straight RGBA8.
    static func configuration(
        from size: PixelSize, to outputSize: PixelSize, _ settings: Settings
    ) throws(ImageDecodingError) -> WebPDecoderConfig {
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else {
            throw ImageDecodingError(.outOfMemory, "libwebp could not be started")
        }
        if outputSize != size {
            config.options.use_scaling = 1
            config.options.scaled_width = Int32(clamping: outputSize.width)
            config.options.scaled_height = Int32(clamping: outputSize.height)
        }
        config.options.use_threads = settings.usesThreads && size.pixelCount >= Settings.threadedPixelCount ? 1 : 0
        config.output.colorspace = MODE_RGBA
        return config
    }

    static func error(_ status: VP8StatusCode) -> ImageDecodingError {
        switch status {
        case VP8_STATUS_OUT_OF_MEMORY: ImageDecodingError(.outOfMemory, "WebP: there is no memory to decode with")
        case VP8_STATUS_UNSUPPORTED_FEATURE:
            ImageDecodingError(.unsupportedVariant, "WebP: the bitstream uses an unknown feature")
        case VP8_STATUS_SUSPENDED, VP8_STATUS_NOT_ENOUGH_DATA:
            ImageDecodingError(.truncated, "WebP: the bitstream ends early")
        default: ImageDecodingError(.corrupt, "WebP: the bitstream is damaged")
        }
    }
}
