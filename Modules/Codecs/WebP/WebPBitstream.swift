import AlcedoCore
private import CWebP

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

    /// Decodes into the memory, scaled to `size` when that is another than the frame's own.
    ///
    /// - Parameters:
    ///   - memory: RGBA8 rows from the first pixel to write on; libwebp checks that they fit.
    ///   - bytesPerRow: From one row to the next; fits 32 bits because no canvas is wider than 2^24 pixels.
    func decode(
        into memory: UnsafeMutableRawBufferPointer, bytesPerRow: Int, scaledTo outputSize: PixelSize,
        premultiplied: Bool
    ) throws(ImageDecodingError) {
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else {
            throw ImageDecodingError(.outOfMemory, "libwebp could not be started")
        }
        defer { WebPFreeDecBuffer(&config.output) }
        if outputSize != size {
            config.options.use_scaling = 1
            config.options.scaled_width = Int32(clamping: outputSize.width)
            config.options.scaled_height = Int32(clamping: outputSize.height)
        }
        config.output.colorspace = premultiplied ? MODE_rgbA : MODE_RGBA
        config.output.is_external_memory = 1
        config.output.u.RGBA.rgba = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        config.output.u.RGBA.stride = Int32(clamping: bytesPerRow)
        config.output.u.RGBA.size = memory.count
        let status = WebPDecode(bytes.baseAddress, bytes.count, &config)
        guard status == VP8_STATUS_OK else { throw Self.error(status) }
    }

    private static func error(_ status: VP8StatusCode) -> ImageDecodingError {
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
