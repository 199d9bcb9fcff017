public import AlcedoCore
package import FoundationEssentials

/// The decoder of `CodecRegistry.Entry.webp(usesThreads:)`.
///
/// At full size, the straight pixels of animation frames are bit-identical to those of libwebp's own player.
/// Premultiplied color is rounded to nearest, while libwebp rounds down.
///
/// A still image is reduced to a target size during decoding: with a `WebPAverager` if it applies and the image is
/// complete, or else by libwebp. The full size must be within the limits in any case.
///
/// A lossy still image that is scaled needs no full-size RGBA buffer, but other full-size planes can be in memory. The
/// frames of an animation are composited on full-size canvases and then averaged down. While libwebp decodes a frame
/// that is lossless or has alpha, it can hold several more bytes per pixel.
///
/// An EXIF orientation is applied if the options request it. EXIF is stored after the pixels, so a file that declares
/// EXIF then has no previews before the EXIF or the end of the file arrives. Source: RFC 9649.
package struct WebPDecoder: ImageDecoding {
    /// Whether a second thread may be used for a large lossy image or frame whose bytes are complete. This does not
    /// change the pixels.
    package var usesThreads: Bool

    /// Creates a stateless decoder. By default, it may use a second thread for large lossy images.
    package init(usesThreads: Bool = true) { self.usesThreads = usesThreads }

    private var settings: WebPSettings { WebPSettings(usesThreads: usesThreads) }

    /// Reads all chunks without decoding pixels. O(chunks + bytes of metadata).
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``; `truncated` when the header of a still image, or the first frame
    ///   of an animation, is incomplete, `exceedsLimit` also for more frames than `limits` allows.
    package func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        try OpenedWebP(data, limits: limits, settings)
    }

    package func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
        IncrementalDecoder(WebPDecodingState(options: options, settings))
    }
}

/// A WebP whose chunks have been read, and whose first frame is known.
final class OpenedWebP: FileReading {
    let file: OpenedFile<WebPContainer>
    private let settings: WebPSettings
    private let properties: ImageInfo
    /// The results of ``tableByteCount(_:)``, for options with and without all frames.
    private var tableByteCounts: [Bool: Int] = [:]

    init(_ data: Data, limits: DecodingLimits, _ settings: WebPSettings) throws(ImageDecodingError) {
        self.settings = settings
        file = try OpenedFile(data, of: "WebP", limits: limits) { bytes, limits throws(ImageDecodingError) in
            var container = WebPContainer(limits: limits)
            try container.advance(bytes)
            try container.finish()
            return container
        }
        properties = try file.withFile { container, _ throws(ImageDecodingError) in
            guard let info = container.info else {
                throw ImageDecodingError(.corrupt, "WebP: the file has no image")
            }
            return info
        }
    }

    var header: ImageHeader { ImageHeader(properties) }

    func info() throws(ImageDecodingError) -> ImageInfo { properties }

    /// Returns the estimated maximum number of bytes for decoding the image, or the frame that needs most, without the
    /// file and the metadata.
    func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
        let tables = try tableByteCount(options)
        return try container(options).byteCount(options, tables: tables, isIncremental: false) ?? 0
    }

    /// Returns the maximum number of bytes of the prefix codes of a frame that the options include.
    private func tableByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
        if let known = tableByteCounts[options.includesAnimation] { return known }
        let count = try file.withFile(options.limits) { container, bytes throws(ImageDecodingError) in
            container.tableByteCount(options, in: bytes)
        }
        tableByteCounts[options.includesAnimation] = count
        return count
    }

    func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        try WebPFrame.check(tables: tableByteCount(options), options.limits)
        return try WebPDecodingState(file.data, container(options), options: options, settings).finish()
    }

    private func container(_ options: DecodingOptions) throws(ImageDecodingError) -> WebPContainer {
        try file.withFile(options.limits) { container, _ throws(ImageDecodingError) in container }
    }

    /// Sends the rows of the image or of the first frame.
    ///
    /// For a lossy image without alpha, libwebp writes into a buffer of the output's size, or into planes of the
    /// image's full size when the image is averaged. The memory of a large image's rows is returned to the system
    /// while the rows are sent, so usually only O(*w*) bytes and a few MiB stay in memory. libwebp keeps alpha and
    /// lossless pixels as a whole, so an image with either is decoded as a whole first. The same applies to animations
    /// and to reoriented images.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``, and the errors of the consumer.
    func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
        let container = try container(options)
        let isReoriented = options.appliesOrientation && container.orientation != .up
        guard let frame = container.frames.first, !container.isAnimated, !isReoriented, !frame.isLossless,
            !frame.declaresAlpha
        else { return try decode(options.forRows).sendRows(to: consumer) }
        let size = container.size(for: options.averagingTarget)
        try consumer.begin(
            PixelRowHeader(
                size: size, format: .rgba8, alphaMode: .opaque, colorProfile: container.sampleProfile,
                orientation: container.orientation))
        guard WebPAverager.averages(frame, to: size) else {
            try WebPRowStream(frame, size: size).send(file.data, to: consumer)
            return container.damage
        }
        let averager = try WebPAverager(frame, size: size)
        try file.data.withUnsafeBytes { memory in
            let file = memory.assumingMemoryBound(to: UInt8.self)
            guard try !averager.send(frame.bytes(in: file), to: consumer) else { return }
            // libwebp is more lenient with all bytes in one call.
            let pixels = try frame.pixels(file, size: size, WebPSettings(usesThreads: false))
            for y in averager.rowCount..<pixels.height { try consumer.consume(pixels.row(y)) }
        }
        try consumer.finish()
        return container.damage
    }
}

extension CodecRegistry.Entry {
    /// WebP by libwebp: lossy, lossless, with alpha, animated. A second thread may be used; see `webp(usesThreads:)`.
    public static var webp: Self { webp(usesThreads: true) }

    /// Returns the codec of WebP by libwebp: lossy, lossless, with alpha, animated.
    ///
    /// ```swift
    /// let image = try CodecRegistry([.webp(usesThreads: false)]).decode(data)
    /// ```
    ///
    /// The format is recognized by its RIFF header: `RIFF`, four bytes of size, `WEBP`. At a quality of 1, the
    /// registry's encoder is lossless.
    ///
    /// The result is RGBA8, regardless of the requested pixel format. Without a target size, the whole canvas is
    /// decoded at full size. Pixels that the frames of an animation do not cover are transparent, as in browsers,
    /// regardless of the file's background color. A complete still image whose pixels are all opaque is `.opaque`. For
    /// a smaller target size, a still image is scaled during decoding, and the frames of an animation are averaged down
    /// by a whole-number factor, so the frames can be larger than the target.
    ///
    /// A wrong size of the file, and damage after the first complete image, are harmless: missing or unusable metadata,
    /// and a broken later frame, which ends the animation before it. A damaged alpha chunk means wrong pixels, and the
    /// image is opaque. Other damage of the first image that libwebp detects means missing pixels. The format has no
    /// checksums, so wrong samples are usually not detected. Damage in the pixels of a later frame is found when the
    /// frame is drawn, and means the same: the animation ends before the frame, or the frame is opaque.
    ///
    /// - Parameter usesThreads: Whether a second thread may be used for a large lossy image or frame whose bytes are
    ///   complete. This does not change the pixels.
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

/// A stream that sends the rows of a frame as libwebp finishes them.
private struct WebPRowStream {
    private let frame: WebPFrame
    private let size: PixelSize
    private let memory: WebPRowMemory
    private let bytesPerRow: Int
    private let decoder: WebPRowDecoder

    /// The maximum number of new bytes in one call of ``advance(_:)``.
    private static let pieceByteCount = 32 << 10

    /// Creates the memory and the decoder, or throws `outOfMemory`. `size` must be within the limits; the number of
    /// bytes then does not overflow.
    init(_ frame: WebPFrame, size: PixelSize) throws(ImageDecodingError) {
        self.frame = frame
        self.size = size
        bytesPerRow = size.width * PixelFormat.rgba8.bytesPerPixel
        memory = try WebPRowMemory(byteCount: size.height * bytesPerRow)
        decoder = try WebPRowDecoder(frame, size: size, into: memory.bytes, bytesPerRow: bytesPerRow)
    }

    /// Sends all rows and the end to a consumer whose `begin` has been called.
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
            // libwebp is more lenient with all bytes in one call.
            let pixels = try frame.pixels(file, size: size, WebPSettings(usesThreads: false))
            for y in sentRows..<pixels.height { try consumer.consume(pixels.row(y)) }
        }
        try consumer.finish()
    }

    /// Passes bytes to libwebp. Returns `false` when libwebp rejects them. Throws only `outOfMemory`.
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
