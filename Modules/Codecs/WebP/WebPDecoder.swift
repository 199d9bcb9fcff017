public import AlcedoCore
package import FoundationEssentials

/// The decoder of `CodecRegistry.Entry.webp(usesThreads:)`.
///
/// Animation frames are composited bit-identically to libwebp's own player. Premultiplied color is rounded to nearest,
/// as everywhere in Alcedo, while libwebp rounds down.
///
/// With a target size, a still image is scaled during decoding. A lossy image without alpha whose sides both shrink to
/// less than three quarters is scaled by averaging luma and chroma. Other images are scaled by libwebp. For a lossy
/// file, the full-size image is never in memory, but the full size must be within the limits. Animations are averaged
/// down when they are composited. In addition to their canvases, libwebp keeps some rows while a frame is decoded, and
/// up to five bytes per pixel if the frame is lossless or has alpha.
///
/// An EXIF orientation is applied. EXIF is stored after the pixels. If the options apply orientations, a file that
/// declares EXIF therefore has no previews before the EXIF arrives. Source: RFC 9649.
package struct WebPDecoder: ImageDecoding {
    /// Whether a second thread may be used for a large lossy image whose bytes are complete. This does not change the
    /// pixels.
    package var usesThreads: Bool

    /// Creates a stateless decoder. By default, it may use a second thread for large lossy images.
    package init(usesThreads: Bool = true) { self.usesThreads = usesThreads }

    private var settings: WebPSettings { WebPSettings(usesThreads: usesThreads) }

    /// Reads all chunks without decoding pixels.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``; `truncated` for an incomplete file, `exceedsLimit` also for more
    ///   frames than `limits` allows.
    /// - Complexity: O(chunks).
    package func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        guard let info = try container(of: data, limits: limits).info else {
            throw ImageDecodingError(.corrupt, "WebP: the file has no image")
        }
        return info
    }

    package func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        // Checks for the end first, because the rows of a truncated file would be decoded and then discarded.
        if !options.allowsPartial { _ = try container(of: data, limits: options.limits) }
        let state = WebPDecodingState(options: options, settings)
        try state.append(data)
        return try state.finish()
    }

    /// Sends the rows of the image or of the first frame.
    ///
    /// libwebp writes into a buffer of the output's size. For a lossy image without alpha, the memory of sent rows is
    /// returned to the system, so only O(*w*) bytes and a few MiB of sent rows stay in memory. libwebp keeps alpha and
    /// lossless pixels as a whole, so an image with either is decoded as a whole first. The same applies to animations
    /// and to reoriented images.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``, and the errors of the consumer.
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
            // libwebp is more lenient with all bytes in one call, and the result of that call decides.
            let pixels = try frame.pixels(file, size: size, WebPSettings(usesThreads: false))
            for y in averager.rowCount..<pixels.height { try consumer.consume(pixels.row(y)) }
        }
        try consumer.finish()
    }

    package func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
        IncrementalDecoder(WebPDecodingState(options: options, settings))
    }

    /// Returns the maximum number of bytes that decoding holds.
    ///
    /// For a still image, these are the output, another output each for reorienting, premultiplying and partial images,
    /// the planes for averaging, and the memory of libwebp. libwebp keeps some rows, all pixels again for a lossless
    /// image, and up to five bytes per pixel for an alpha plane. For an animation, they are two canvases, the image
    /// made from them, the pixels of a frame, and the memory of libwebp.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``, like ``inspect(_:limits:)``.
    package func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
        try container(of: data, limits: options.limits).byteCount(options, isIncremental: false) ?? 0
    }

    /// Returns the parsed chunks of a complete file.
    private func container(of data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> WebPContainer {
        var container = WebPContainer(limits: limits)
        try data.withDecoderInput(of: "WebP") { bytes throws(ImageDecodingError) in try container.advance(bytes) }
        try container.requireEnd()
        return container
    }
}

extension CodecRegistry.Entry {
    /// WebP by libwebp: lossy, lossless, with alpha, animated. A second thread may be used for large lossy images; see
    /// `webp(usesThreads:)`.
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
    /// The result is RGBA8 of the canvas's size, regardless of the requested pixel format. Pixels that the frames of an
    /// animation do not cover are transparent, as in browsers, regardless of the file's background color. A still image
    /// without transparent pixels is `.opaque`. With a target size, a still image is scaled during decoding.
    ///
    /// - Parameter usesThreads: Whether a second thread may be used for a large lossy image whose bytes are complete.
    ///   This does not change the pixels.
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

    /// The number of bytes that are passed to libwebp before finished rows are sent.
    private static let pieceByteCount = 32 << 10

    /// Creates the memory and the decoder. `size` must be within the limits; the number of bytes then does not
    /// overflow.
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
            // libwebp is more lenient with all bytes in one call, and the result of that call decides.
            let pixels = try frame.pixels(file, size: size, WebPSettings(usesThreads: false))
            for y in sentRows..<pixels.height { try consumer.consume(pixels.row(y)) }
        }
        try consumer.finish()
    }

    /// Passes bytes to libwebp. Returns `false` when libwebp rejects them.
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
