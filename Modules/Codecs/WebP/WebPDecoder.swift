public import AlcedoCore
import CWebP
package import FoundationEssentials

/// Decodes WebP as `CodecRegistry.Entry.webp(usesThreads:)` describes.
///
/// Frames of an animation are drawn as libwebp's own player draws them, to the bit. Premultiplied color is rounded to
/// nearest, as everywhere in Alcedo, and not down, as libwebp would.
///
/// With a target size a still image is scaled while it is decoded: a lossy one without alpha by means of its luma and
/// chroma, others by libwebp; of a lossy file the full-size picture never exists. The full size must be within the limits
/// all the same. Animations are averaged down when they are drawn; beside their canvases libwebp keeps some hundred
/// kilobytes while a frame is decoded. An EXIF orientation is applied; it lies behind the pixels, so a file that announces
/// EXIF has no previews before it has come, unless orientations are not applied. Source: RFC 9649.
package struct WebPDecoder: ImageDecoding {
    /// Whether a second thread may help with a large lossy picture whose bytes are all there; the pixels are the same.
    package var usesThreads: Bool

    /// By default a second thread helps with lossy pictures.
    package init(usesThreads: Bool = true) { self.usesThreads = usesThreads }

    private var settings: WebPSettings { WebPSettings(usesThreads: usesThreads) }

    /// Reads all chunks, without decoding a pixel.
    ///
    /// - Throws: ``ImageDecodingError``; `truncated` for a file that is not there as a whole, `exceedsLimit` also for
    ///   more frames than `limits` allows.
    /// - Complexity: O(chunks).
    package func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        guard let info = try container(of: data, limits: limits).info else {
            throw ImageDecodingError(.corrupt, "WebP: there is no image")
        }
        return info
    }

    package func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        // Without this, the rows of a file that ends early would be decoded only to be thrown away.
        if !options.allowsPartial { _ = try container(of: data, limits: options.limits) }
        let state = WebPDecodingState(options: options, settings)
        try state.append(data)
        return try state.finish()
    }

    /// Hands over the rows of the image, or of the first frame.
    ///
    /// libwebp writes into a buffer of the output's size. Of a lossy image without alpha, rows that were handed over
    /// are given back to the system, so that what stays in memory is O(*w*). Alpha and lossless pixels are kept whole by
    /// libwebp itself, so these images, animations and turned ones are decoded whole first.
    ///
    /// - Throws: ``ImageDecodingError``, and what the consumer throws.
    package func decodeRows(_ data: Data, options: DecodingOptions, into consumer: any PixelRowConsumer) throws {
        let container = try container(of: data, limits: options.limits)
        let isReoriented = options.appliesOrientation && container.orientation != .up
        guard let frame = container.frames.first, !container.isAnimated, !isReoriented, !frame.isLossless,
            !frame.declaresAlpha
        else { return try decode(data, options: options.forRows).sendRows(to: consumer) }
        let size = container.size(for: options.target)
        try consumer.begin(
            PixelRowHeader(
                size: size, format: .rgba8, alphaMode: .opaque, colorProfile: container.metadata.colorProfile,
                orientation: container.orientation))
        guard WebPAverager.averages(frame, to: size) else {
            return try WebPRowStream(frame, size: size).send(data, to: consumer)
        }
        let averager = try WebPAverager(frame, size: size)
        try data.withUnsafeBytes { memory in
            let file = memory.assumingMemoryBound(to: UInt8.self)
            guard try !averager.send(frame.bytes(in: file), to: consumer) else { return }
            // With all bytes at once libwebp is more lenient, and what it says then counts.
            let pixels = try frame.pixels(file, size: size, WebPSettings(usesThreads: false))
            for y in averager.rowCount..<pixels.height { try consumer.consume(pixels.row(y)) }
        }
        try consumer.finish()
    }

    package func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
        IncrementalDecoder(WebPDecodingState(options: options, settings))
    }

    /// The output, one more where it is turned, where it is multiplied by alpha, and where a part is allowed, and what
    /// libwebp keeps: some rows, of a lossless image all pixels once more, of an alpha plane up to five bytes a pixel. For
    /// an animation two canvases, the picture made of them, and the pixels of a frame.
    ///
    /// - Throws: ``ImageDecodingError`` as ``inspect(_:limits:)``.
    package func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
        try container(of: data, limits: options.limits).byteCount(options, isIncremental: false) ?? 0
    }

    /// What a whole file says.
    private func container(of data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> WebPContainer {
        var container = WebPContainer(limits: limits)
        try data.withDecoderInput { bytes throws(ImageDecodingError) in try container.advance(bytes) }
        try container.requireEnd()
        return container
    }
}

extension CodecRegistry.Entry {
    /// WebP by libwebp: lossy, lossless, with alpha, animated. A second thread may help with large lossy images; see
    /// `webp(usesThreads:)`.
    public static var webp: Self { webp(usesThreads: true) }

    /// Returns the codec of WebP by libwebp: lossy, lossless, with alpha, animated. Recognized by its RIFF header: `RIFF`, four
    /// bytes of size, `WEBP`. The encoder's best quality is lossless.
    ///
    /// The result is RGBA8 of the canvas's size, whatever pixel format is requested. Pixels that the frames of an animation do
    /// not cover are transparent, as in browsers, whatever the file's background color. A still image without a transparent
    /// pixel is `.opaque`. With a target size a still image is scaled while it is decoded.
    ///
    /// - Parameter usesThreads: Whether a second thread may help with a large lossy image whose bytes are all there. The
    ///   pixels are the same.
    public static func webp(usesThreads: Bool) -> Self {
        let size: [UInt8?] = [nil, nil, nil, nil]
        return Self(
            format: .webp, decoder: WebPDecoder(usesThreads: usesThreads),
            signatures: [Array("RIFF".utf8) + size + Array("WEBP".utf8)],
            makeEncoder: { quality in
                WebPEncoder(compression: quality < 1 ? .lossy(quality: quality * 100) : .lossless)
            })
    }
}

/// Hands over the rows of a frame as libwebp finishes them.
private struct WebPRowStream {
    private let frame: WebPFrame
    private let size: PixelSize
    private let memory: WebPRowMemory
    private let bytesPerRow: Int
    private let decoder: WebPRowDecoder

    /// Bytes that libwebp gets before finished rows are handed over.
    private static let pieceByteCount = 32 << 10

    /// - Parameter size: Within the limits, so that its bytes can be counted.
    init(_ frame: WebPFrame, size: PixelSize) throws(ImageDecodingError) {
        self.frame = frame
        self.size = size
        bytesPerRow = size.width * PixelFormat.rgba8.bytesPerPixel
        memory = try WebPRowMemory(byteCount: size.height * bytesPerRow)
        decoder = try WebPRowDecoder(frame, size: size, into: memory.bytes, bytesPerRow: bytesPerRow)
    }

    /// Sends all rows and the end; the beginning was sent.
    func send(_ data: Data, to consumer: any PixelRowConsumer) throws {
        try data.bytes.withUnsafeBytes { file in
            let file = file.assumingMemoryBound(to: UInt8.self)
            let bytes = frame.bytes(in: file)
            var (sentRows, count) = (0, 0)
            while count < bytes.count {
                count = min(bytes.count, count + Self.pieceByteCount)
                guard try advance(UnsafeBufferPointer(rebasing: bytes[..<count])) else { break }
                while sentRows < decoder.rowCount {
                    let row = memory.bytes[sentRows * bytesPerRow..<(sentRows + 1) * bytesPerRow]
                    try consumer.consume(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: row)))
                    sentRows += 1
                }
                memory.release(first: sentRows * bytesPerRow)
            }
            guard !decoder.isComplete else { return }
            // With all bytes at once libwebp is more lenient, and what it says then counts.
            let pixels = try frame.pixels(file, size: size, WebPSettings(usesThreads: false))
            for y in sentRows..<pixels.height { try consumer.consume(pixels.row(y)) }
        }
        try consumer.finish()
    }

    /// False when libwebp refuses the bytes.
    private func advance(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> Bool {
        do throws(ImageDecodingError) {
            try decoder.advance(bytes)
            return true
        } catch {
            guard error.code != .outOfMemory else { throw error }
            return false
        }
    }
}

/// The plain calls of libwebp that benchmarks compare ``WebPDecoder`` with.
package enum WebPReference {
    /// Decodes a still image into memory of its own and throws the pixels away. Returns their number, 0 on any error.
    package static func decode(_ data: Data) -> Int {
        data.withUnsafeBytes { memory in
            var (width, height) = (Int32(0), Int32(0))
            let bytes = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
            guard let pixels = WebPDecodeRGBA(bytes, memory.count, &width, &height) else { return 0 }
            WebPFree(pixels)
            return Int(width) * Int(height)
        }
    }
}
