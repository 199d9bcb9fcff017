public import AlcedoCore
import CWebP
package import FoundationEssentials

/// The encoder of
/// `ImageEncoder.webp(quality:alphaQuality:lossless:nearLossless:method:keepsHiddenColor:keepsShortDelays:)`, whose
/// comment describes the behavior.
package struct WebPEncoder: MetadataEncoding {
    package enum Compression: Sendable, Hashable {
        /// Lossy compression. Both qualities are from 0 to 100; other values are clamped.
        case lossy(quality: Double, alphaQuality: Double = 100)
        case lossless
        /// Lossless compression of pixels that were changed so that they take fewer bytes, from 0 (most) to 100 (not
        /// at all). Other values are clamped.
        case nearLossless(Int)
    }

    package var compression: Compression
    package var method: Int
    package var keepsHiddenColor: Bool
    /// The metadata to write. EXIF is combined with the orientation, the size and the resolution of the image by
    /// `ImageMetadata.writtenEXIF`. The format has no place for IPTC.
    package var metadata = ImageMetadata()
    package var keepsShortDelays: Bool

    package init(
        compression: Compression = .lossy(quality: 75), method: Int = 4, keepsHiddenColor: Bool = false,
        keepsShortDelays: Bool = false
    ) {
        self.keepsShortDelays = keepsShortDelays
        self.compression = compression
        self.method = method
        self.keepsHiddenColor = keepsHiddenColor
    }

    package var format: ImageFormat { .webp }

    /// False, because samples of the format have 8 bits.
    package var holdsDeepSamples: Bool { false }

    private var isLossy: Bool {
        if case .lossy = compression { true } else { false }
    }

    package func limitingQuality(to quality: Double) -> Self? {
        guard case .lossy(let own, let alphaQuality) = compression else { return nil }
        var encoder = self
        encoder.compression = .lossy(quality: min(own, quality * 100), alphaQuality: alphaQuality)
        return encoder
    }

    /// Returns true, because the format supports animations and transparency.
    package func canEncode(_ image: DecodedImage) -> Bool { true }

    /// Returns the memory of libwebp and the file, measured for noise.
    package func encodingByteCount(of size: PixelSize, format: PixelFormat) -> Int {
        size.encodingByteCount(perPixel: isLossy ? 28 : 40)
    }

    /// Returns the memory for a still image, and for an animation that for the frames that are compared, for the
    /// encoded frames and for the file. Noise has 3 bytes for a pixel without loss.
    package func encodingByteCount(of size: PixelSize, format: PixelFormat, frameCount: Int) -> Int {
        encodingByteCount(of: size, format: format)
            .addingClamped(
                size.framesByteCount(
                    format: format, frameCount: frameCount, perPixel: isLossy ? 4 : 6))
    }

    /// Encodes the image with all frames of an animation, which are requested one at a time.
    ///
    /// Delays are written in milliseconds, rounded down. libwebp stores the changes between frames. For a frame without
    /// changes, it usually extends the delay of the previous frame. An animation whose frames are all equal usually
    /// becomes a still image.
    ///
    /// - Throws: ``/AlcedoCore/ImageEncodingError``: `unsupportedImage` for sides above 16,383 pixels, frames of
    ///   another size than the canvas, animations of 2^31 ms or more, and still images that exceed the format's size
    ///   limits when encoded. It is `failed` when libwebp fails for another reason or a frame cannot be decoded, and
    ///   `outOfMemory` when there is no memory.
    /// - Complexity: O(*w* × *h*) for each frame. Memory for pixels does not depend on the number of frames. Several
    ///   copies of the encoded file can be in memory.
    package func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        try encode(image, maximumByteCount: .max)
    }

    /// Encodes the image as ``encode(_:)`` does. Throws `exceedsLimit` when the bytes of an animation exceed the limit,
    /// also in the middle of a frame, or when those of a still image do.
    package func encode(_ image: DecodedImage, maximumByteCount: Int) throws(ImageEncodingError) -> Data {
        let file: Data
        var frames = try FrameSequence(image, format: "WebP")
        if frames.isAnimated, let source = image.frames {
            // libwebp holds the encoded frames beside the file.
            let counter = WebPByteCounter(limit: maximumByteCount / 2)
            do {
                file = try WebPAnimationWriter(
                    config: configuration(), canvas: source.canvasSize, counter: counter
                ) { index in
                    image.writtenDelay(at: index, keepsShortDelays: keepsShortDelays)
                }.encode(&frames, playCount: source.playCount)
            } catch {
                throw counter.isOverLimit ? .exceeds(maximumByteCount, .webp) : error
            }
        } else {
            file = try WebPSource(image.pixels, usesARGB: !isLossy).encode(configuration())
            guard file.count <= maximumByteCount else { throw .exceeds(maximumByteCount, .webp) }
        }
        return try WebPMetadata(
            colorProfile: image.colorProfile,
            exif: metadata.writtenEXIF(image.orientation, image.size, holdsResolution: false), xmp: metadata.xmp
        ).added(to: file)
    }
}

extension ImageEncoding where Self == ImageEncoder {
    /// Returns an encoder of lossy, lossless and animated WebP that uses libwebp.
    ///
    /// ```swift
    /// let data = try ImageEncoder.webp(quality: 80).encode(image)
    /// ```
    ///
    /// The color profile is kept unchanged, but a gray profile becomes an RGB profile with the same curve, because gray
    /// is written as color. Rows keep their stored order, and an orientation other than upright is written as EXIF, as
    /// is the resolution. IPTC is omitted. Opaque still images get no alpha, 16-bit samples lose their low byte, and
    /// premultiplied samples are divided by alpha.
    ///
    /// Delays of frames are stored in milliseconds, rounded down, at most 16,777,215 ms. A number of plays above
    /// 65,535 is stored as 65,535. An animation whose frames are all equal usually becomes a still image.
    ///
    /// Encoding throws `unsupportedImage` for a side of more than 16,383 pixels, and for an encoded still image that
    /// exceeds the format's size limits. It also does for a frame whose size differs from the canvas, and for an
    /// animation of 2^31 ms or more. A row encoder collects the whole image, because libwebp needs all rows to encode.
    /// Source: RFC 9649.
    ///
    /// - Parameters:
    ///   - quality: The quality from 0 (smallest) to 100 (best). Other values are clamped. Has no effect when
    ///     `lossless` is `true` or `nearLossless` is not nil. Default: 75.
    ///   - alphaQuality: The quality of alpha beside lossy color, from 0 (smallest) to 100 (exact). Below 100, there
    ///     are fewer different alpha values. Other values are clamped. Default: 100.
    ///   - lossless: Whether compression keeps every pixel exactly. The color under alpha 0 can change unless
    ///     `keepsHiddenColor` is `true`. Default: `false`.
    ///   - nearLossless: The level of lossless compression with changed samples, from 0 to 100, or nil for the
    ///     compression that the other parameters request. Samples, also those of alpha, change where this makes the
    ///     file smaller: at 80 by at most 1, at 60 by 2, at 40 by 4, at 20 by 8, at 0 by 16. Images with few colors do
    ///     not change, and neither does any image at 100 or with the method 0. Other values are clamped. Default:
    ///     `nil`.
    ///   - method: The effort of libwebp, from 0 (fastest) to 6 (smallest). Other values are clamped. Default: 4.
    ///   - keepsHiddenColor: Whether the color under alpha 0, which is not visible, is kept: exactly by lossless
    ///     compression, approximately by lossy compression. Files with such pixels are usually smaller without it.
    ///     Default: `false`.
    ///   - keepsShortDelays: Whether delays of at most 10 ms in animations from GIF or APNG are written unchanged.
    ///     Otherwise they become 100 ms, as browsers show them. Default: `false`.
    public static func webp(
        quality: Double = 75, alphaQuality: Double = 100, lossless: Bool = false, nearLossless: Int? = nil,
        method: Int = 4, keepsHiddenColor: Bool = false, keepsShortDelays: Bool = false
    ) -> Self {
        let lossy = WebPEncoder.Compression.lossy(quality: quality, alphaQuality: alphaQuality)
        return ImageEncoder(
            WebPEncoder(
                compression: nearLossless.map { .nearLossless($0) } ?? (lossless ? .lossless : lossy), method: method,
                keepsHiddenColor: keepsHiddenColor, keepsShortDelays: keepsShortDelays))
    }
}

extension WebPEncoder {
    /// Returns the libwebp configuration of this encoder.
    func configuration() throws(ImageEncodingError) -> WebPConfig {
        var config = WebPConfig()
        guard WebPConfigInit(&config) != 0 else {
            throw ImageEncodingError(.failed, "WebP: cannot initialize libwebp: the library version does not match")
        }
        switch compression {
        case .lossless: config.lossless = 1
        case .nearLossless(let level):
            config.lossless = 1
            config.near_lossless = Int32(min(max(level, 0), 100))
        case .lossy(let quality, let alphaQuality):
            // The comparisons are written so that NaN becomes 0.
            config.quality = quality > 0 ? Float(min(quality, 100)) : 0
            config.alpha_quality = alphaQuality > 0 ? Int32(min(alphaQuality, 100)) : 0
        }
        config.method = Int32(min(max(method, 0), 6))
        config.exact = keepsHiddenColor ? 1 : 0
        return config
    }
}

/// A writer that encodes an animation with libwebp's `WebPAnimEncoder`. It reads two frames at a time, while libwebp
/// keeps the encoded frames.
private struct WebPAnimationWriter {
    let config: WebPConfig
    let canvas: PixelSize
    /// The bytes of the encoded frames. When they exceed the limit, libwebp ends with an error.
    let counter: WebPByteCounter
    /// Returns the duration of a frame.
    let delay: (_ index: Int) -> Duration

    func encode(_ frames: inout FrameSequence, playCount: Int?) throws(ImageEncodingError) -> Data {
        try WebPSource.check(canvas)
        var options = WebPAnimEncoderOptions()
        guard WebPAnimEncoderOptionsInit(&options) != 0 else {
            throw ImageEncodingError(.failed, "WebP: cannot initialize libwebp: the library version does not match")
        }
        options.anim_params.loop_count = Int32(playCount.map { min(max($0, 1), 0xFFFF) } ?? 0)
        let (width, height) = (Int32(canvas.width), Int32(canvas.height))
        guard let writer = WebPAnimEncoderNew(width, height, &options) else {
            throw ImageEncodingError(.outOfMemory, "WebP: cannot encode: out of memory")
        }
        defer { WebPAnimEncoderDelete(writer) }
        let end = try add(&frames, to: writer)
        guard WebPAnimEncoderAdd(writer, nil, end, nil) != 0 else { throw Self.error(writer) }
        var output = WebPData()
        guard WebPAnimEncoderAssemble(writer, &output) != 0, let bytes = output.bytes else {
            WebPDataClear(&output)
            throw Self.error(writer)
        }
        // The encoded frames are still in memory, so the file is not copied as well.
        return Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes), count: output.size,
            deallocator: .custom { pointer, _ in WebPFree(pointer) })
    }

    /// Adds all frames. Returns the time in milliseconds at which the last frame ends.
    private func add(_ frames: inout FrameSequence, to writer: OpaquePointer) throws(ImageEncodingError) -> Int32 {
        var start = Int32(0)
        while let (index, pixels, _) = try frames.next() {
            guard pixels.size == canvas else {
                throw ImageEncodingError(.unsupportedImage, "WebP: frame \(index) does not have the size of the canvas")
            }
            let source = try WebPSource(pixels, usesARGB: true)
            guard source.add(to: writer, at: start, config, counter) else { throw Self.error(writer) }
            let (next, overflow) = start.addingReportingOverflow(Self.milliseconds(delay(index)))
            guard !overflow else {
                throw ImageEncodingError(.unsupportedImage, "WebP: the animation's duration exceeds the format's limit")
            }
            start = next
        }
        return start
    }

    /// Returns the delay in milliseconds, rounded down and clamped to the 24 bits of a frame's header. Source: RFC 9649
    /// section 2.7.1.1.
    private static func milliseconds(_ delay: Duration) -> Int32 {
        let (seconds, attoseconds) = delay.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds <= 0xFF_FFFF / 1000 else { return 0xFF_FFFF }
        return Int32(min(seconds * 1000 + attoseconds / 1_000_000_000_000_000, 0xFF_FFFF))
    }

    private static func error(_ writer: OpaquePointer) -> ImageEncodingError {
        let reason = WebPAnimEncoderGetError(writer).map { String(cString: $0) } ?? "libwebp failed"
        return ImageEncodingError(.failed, "WebP: \(reason)")
    }
}

/// The metadata chunks that are added to a file by libwebp's `WebPMux`.
private struct WebPMetadata {
    private let chunks: [(id: String, payload: Data)]

    init(colorProfile: Data?, exif: [UInt8], xmp: Data?) {
        let profile = ICCProfile.encoded(colorProfile, isGray: false).flatMap { $0.isEmpty ? nil : ("ICCP", $0) }
        let exif = exif.isEmpty ? nil : ("EXIF", Data(exif))
        let xmp = xmp.flatMap { $0.isEmpty ? nil : ("XMP ", $0) }
        chunks = [profile, exif, xmp].compactMap { $0 }
    }

    /// Returns the file with the chunks added, or the file itself when there are no chunks.
    func added(to file: Data) throws(ImageEncodingError) -> Data {
        guard !chunks.isEmpty else { return file }
        return try Self.withWebPData(file) { file throws(ImageEncodingError) in
            // The container refers to the bytes of the file, which would otherwise be in memory three times.
            guard let container = WebPMuxCreate(file, 0) else {
                throw ImageEncodingError(.outOfMemory, "WebP: cannot read the encoded file: out of memory")
            }
            defer { WebPMuxDelete(container) }
            for (id, payload) in chunks {
                try Self.check(Self.withWebPData(payload) { WebPMuxSetChunk(container, id, $0, 1) })
            }
            var output = WebPData()
            try Self.check(WebPMuxAssemble(container, &output))
            guard let bytes = output.bytes else { throw ImageEncodingError(.failed, "WebP: libwebp produced no file") }
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes), count: output.size,
                deallocator: .custom { pointer, _ in WebPFree(pointer) })
        }
    }

    private static func withWebPData<Result>(
        _ data: Data, _ body: (UnsafePointer<WebPData>) throws(ImageEncodingError) -> Result
    ) throws(ImageEncodingError) -> Result {
        try data.bytes.withUnsafeBytes { memory throws(ImageEncodingError) in
            var webp = WebPData(bytes: memory.baseAddress?.assumingMemoryBound(to: UInt8.self), size: memory.count)
            return try body(&webp)
        }
    }

    private static func check(_ result: WebPMuxError) throws(ImageEncodingError) {
        guard result != WEBP_MUX_OK else { return }
        throw ImageEncodingError(
            result == WEBP_MUX_MEMORY_ERROR ? .outOfMemory : .failed,
            "WebP: libwebp failed with code \(result.rawValue)")
    }
}
