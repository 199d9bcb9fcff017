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
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else {
            throw ImageDecodingError(.outOfMemory, "libwebp could not be started")
        }
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
}
