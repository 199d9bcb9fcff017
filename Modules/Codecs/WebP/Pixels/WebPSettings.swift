import AlcedoCore
import CWebP

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
