import AlcedoCore
import CWebP
import FoundationEssentials

/// Encodes an animation frame by frame, by libwebp's `WebPAnimEncoder`. Holds one frame at a time.
struct WebPAnimationWriter {
    let config: WebPConfig

    func encode(_ frames: any ImageFrameSource) throws(ImageEncodingError) -> Data {
        try WebPSource.check(frames.canvasSize)
        var options = WebPAnimEncoderOptions()
        guard WebPAnimEncoderOptionsInit(&options) != 0 else {
            throw ImageEncodingError(.failed, "WebP: libwebp could not be started")
        }
        options.anim_params.loop_count = Int32(frames.playCount.map { min(max($0, 1), 0xFFFF) } ?? 0)
        let (width, height) = (Int32(frames.canvasSize.width), Int32(frames.canvasSize.height))
        guard let writer = WebPAnimEncoderNew(width, height, &options) else {
            throw ImageEncodingError(.outOfMemory, "WebP: there is no memory to encode with")
        }
        defer { WebPAnimEncoderDelete(writer) }
        let end = try add(frames, to: writer)
        guard WebPAnimEncoderAdd(writer, nil, end, nil) != 0 else { throw Self.error(writer) }
        var output = WebPData()
        defer { WebPDataClear(&output) }
        guard WebPAnimEncoderAssemble(writer, &output) != 0, let bytes = output.bytes else { throw Self.error(writer) }
        return Data(bytes: bytes, count: output.size)
    }

    /// Returns the time, in milliseconds, at which the last frame ends.
    private func add(_ frames: any ImageFrameSource, to writer: OpaquePointer) throws(ImageEncodingError) -> Int32 {
        var start = Int32(0)
        for index in 0..<frames.frameCount {
            let pixels: PixelBuffer
            do {
                pixels = try frames.frame(at: index)
            } catch {
                throw ImageEncodingError(.failed, "WebP: frame \(index) cannot be had: \(error)")
            }
            guard pixels.size == frames.canvasSize else {
                throw ImageEncodingError(.unsupportedImage, "WebP: frame \(index) does not fill the canvas")
            }
            let source = try WebPSource(pixels, usesARGB: true)
            guard source.add(to: writer, at: start, config) else { throw Self.error(writer) }
            let (next, overflow) = start.addingReportingOverflow(Self.milliseconds(frames.rawDelay(at: index)))
            guard !overflow else { throw ImageEncodingError(.unsupportedImage, "WebP: the animation is too long") }
            start = next
        }
        return start
    }

    /// A delay as the 24 bits of a frame's header hold it. Source: RFC 9649 section 2.7.1.1.
    private static func milliseconds(_ delay: Duration) -> Int32 {
        let (seconds, attoseconds) = delay.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 0xFF_FFFF / 1000 else { return 0xFF_FFFF }
        return Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }

    private static func error(_ writer: OpaquePointer) -> ImageEncodingError {
        let reason = WebPAnimEncoderGetError(writer).map { String(cString: $0) } ?? "libwebp failed"
        return ImageEncodingError(.failed, "WebP: \(reason)")
    }
}
