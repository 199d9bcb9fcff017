public import AlcedoCore
import CWebP
public import FoundationEssentials

/// Encodes WebP, by libwebp: lossy or lossless, still or animated.
///
/// The colour profile is kept as it is. Rows stay as they are stored, and an orientation other than upright is written
/// as EXIF. Opaque pictures get no alpha. Gray becomes red, green and blue, samples of 16 bits lose their low byte and
/// premultiplied ones are divided by alpha, because the format knows only straight pixels of 8 bits.
///
/// Rows cannot be encoded as they come: libwebp needs the whole picture, so a row encoder collects it.
/// Source: RFC 9649.
public struct WebPEncoder: EXIFEncoding, AnimationEncoding {
    /// How pixels are kept.
    package enum Compression: Sendable, Hashable {
        /// Quality from 0 (smallest) to 100 (best); values outside count as the nearest. Alpha is kept exactly.
        case lossy(quality: Double)
        /// Without loss, except for the color under alpha 0 unless the encoder keeps it.
        case lossless
    }

    /// How pixels are kept.
    package var compression: Compression
    /// How hard libwebp tries: 0 (fastest) to 6 (smallest). Values outside count as the nearest.
    package var method: Int
    /// Whether lossless compression keeps the colour under alpha 0, which nobody sees. Dropping it makes files smaller.
    package var keepsHiddenColor: Bool
    /// The EXIF data to write, from the TIFF header on.
    package var exif: Data?

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - quality: From 0 (smallest) to 100 (best); values outside count as the nearest. Has no effect when `lossless` is
    ///     true. Alpha is kept exactly. Default: 75.
    ///   - lossless: Whether every pixel is kept as it is, except for the color under alpha 0 unless `keepsHiddenColor` is
    ///     true. Default: false.
    ///   - method: How hard libwebp tries, from 0 (fastest) to 6 (smallest); values outside count as the nearest. Default: 4.
    ///   - keepsHiddenColor: Whether lossless compression keeps the color under alpha 0, which is not visible. Dropping it
    ///     makes files smaller. Default: false.
    public init(
        quality: Double = 75, lossless: Bool = false, method: Int = 4, keepsHiddenColor: Bool = false
    ) {
        let compression: Compression = lossless ? .lossless : .lossy(quality: quality)
        self.init(compression: compression, method: method, keepsHiddenColor: keepsHiddenColor)
    }

    package init(compression: Compression, method: Int = 4, keepsHiddenColor: Bool = false) {
        self.compression = compression
        self.method = method
        self.keepsHiddenColor = keepsHiddenColor
    }

    public var format: ImageFormat { .webp }

    /// Encodes the image; of an animation all frames, taken from it one at a time.
    ///
    /// Delays are those of the file it came from, in whole milliseconds. libwebp stores the changes from frame to frame,
    /// and frames without a change as a longer delay of the one before; when nothing ever changes the result is still.
    ///
    /// - Throws: ``ImageEncodingError``: `unsupportedImage` for sides above 16,383 pixels and for an animation of more
    ///   than 2^31 ms; `failed` also when a frame cannot be decoded.
    /// - Complexity: O(*w* × *h*) for each frame. Memory: a copy of one picture, libwebp's own, and the file; for an
    ///   animation three more canvases.
    public func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        let file: Data
        if let frames = image.frames, frames.frameCount > 1 {
            file = try WebPAnimationWriter(config: configuration()).encode(frames)
        } else {
            file = try WebPSource(image.pixels, usesARGB: compression == .lossless).encode(configuration())
        }
        return try WebPMetadata(
            colorProfile: image.colorProfile, exif: image.orientation.written(in: exif)
        ).added(to: file)
    }
}

extension ImageEncoding where Self == WebPEncoder {
    /// WebP.
    ///
    /// - Parameters:
    ///   - quality: 0 (smallest) to 100 (best). Has no effect when `lossless` is true. Default: 75.
    ///   - lossless: Whether every visible pixel is kept as it is. Default: false.
    ///   - method: How hard libwebp tries: 0 (fastest) to 6 (smallest). Default: 4.
    public static func webp(quality: Int = 75, lossless: Bool = false, method: Int = 4) -> Self {
        WebPEncoder(quality: Double(quality), lossless: lossless, method: method)
    }
}

extension WebPEncoder {
    /// libwebp's settings for these.
    func configuration() throws(ImageEncodingError) -> WebPConfig {
        var config = WebPConfig()
        guard WebPConfigInit(&config) != 0 else {
            throw ImageEncodingError(.failed, "WebP: libwebp could not be started")
        }
        switch compression {
        case .lossless: config.lossless = 1
        case .lossy(let quality):
            // Written so that a value that is no number counts as 0.
            config.quality = quality > 0 ? Float(min(quality, 100)) : 0
        }
        config.method = Int32(min(max(method, 0), 6))
        config.exact = keepsHiddenColor ? 1 : 0
        return config
    }
}

/// Encodes an animation frame by frame, by libwebp's `WebPAnimEncoder`. Holds one frame at a time.
private struct WebPAnimationWriter {
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

/// What is written beside the pixels of a file, by libwebp's `WebPMux`.
private struct WebPMetadata {
    private let chunks: [(id: String, payload: Data)]

    init(colorProfile: Data?, exif: [UInt8]) {
        let profile = colorProfile.flatMap { $0.isEmpty ? nil : ("ICCP", $0) }
        let exif = exif.isEmpty ? nil : ("EXIF", Data(exif))
        chunks = [profile, exif].compactMap { $0 }
    }

    /// The file with the chunks in it; the file itself when there are none.
    func added(to file: Data) throws(ImageEncodingError) -> Data {
        guard !chunks.isEmpty else { return file }
        let copiesData: Int32 = 1
        guard let container = Self.withWebPData(file, { WebPMuxCreate($0, copiesData) }) else {
            throw ImageEncodingError(.outOfMemory, "WebP: there is no memory for a second file")
        }
        defer { WebPMuxDelete(container) }
        for (id, payload) in chunks {
            try Self.check(Self.withWebPData(payload) { WebPMuxSetChunk(container, id, $0, copiesData) })
        }
        var output = WebPData()
        defer { WebPDataClear(&output) }
        try Self.check(WebPMuxAssemble(container, &output))
        guard let bytes = output.bytes else { throw ImageEncodingError(.failed, "WebP: no file was made") }
        return Data(bytes: bytes, count: output.size)
    }

    private static func withWebPData<Result>(_ data: Data, _ body: (UnsafePointer<WebPData>) -> Result) -> Result {
        data.bytes.withUnsafeBytes { memory in
            var webp = WebPData(bytes: memory.baseAddress?.assumingMemoryBound(to: UInt8.self), size: memory.count)
            return body(&webp)
        }
    }

    private static func check(_ result: WebPMuxError) throws(ImageEncodingError) {
        guard result != WEBP_MUX_OK else { return }
        throw ImageEncodingError(
            result == WEBP_MUX_MEMORY_ERROR ? .outOfMemory : .failed,
            "WebP: libwebp failed with code \(result.rawValue)")
    }
}
