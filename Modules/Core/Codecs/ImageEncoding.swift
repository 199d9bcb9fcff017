import AlcedoRuntime
public import FoundationEssentials

/// An encoder of one image format.
///
/// Several threads may call an encoder at the same time. Every call blocks while it works. An encoder keeps the color
/// profile and the orientation if the format supports them, and its documentation states how.
public protocol ImageEncoding: Sendable {
    /// The format of the encoded bytes.
    var format: ImageFormat { get }

    /// Whether files of the format can store the frames and the transparency of the image. The number of colors and the
    /// bit depth are not considered. Default: true for still images, false for animations.
    func canEncode(_ image: DecodedImage) -> Bool

    /// Whether files of the encoder hold more than 8 bits a sample, and a high dynamic range. If not, a converter
    /// passes on images with 8 bits a sample in standard dynamic range. Default: true.
    var holdsDeepSamples: Bool { get }

    /// Encodes the image. Encodes all frames of an animation when the format supports animations, otherwise the first
    /// frame. An animation ends before a frame that turns out to be damaged: see ``ImageFrameSource/frameCount``.
    ///
    /// Encoders request frames in order, each once, and keep few of them, so that the memory of a conversion does not
    /// depend on the number of frames. The encoder of PNG requests them a second time if they may fit into a palette.
    ///
    /// - Throws: ``ImageEncodingError`` when the format cannot represent the image, the codec library fails, or memory
    ///   is exhausted.
    func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data

    /// Encodes the image as ``encode(_:)`` does, if the encoded bytes need no more memory than a limit. The size of an
    /// animation is known only while it is encoded.
    ///
    /// An encoder counts the bytes after each frame, if it can, and ends when they exceed the limit. The default
    /// implementation encodes the whole image, and then compares the size of the file.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - maximumByteCount: The maximum number of bytes of the encoded frames, and of the file, that are held at once.
    /// - Throws: ``ImageEncodingError`` as ``encode(_:)`` does, and `exceedsLimit`.
    func encode(_ image: DecodedImage, maximumByteCount: Int) throws(ImageEncodingError) -> Data

    /// Returns a row consumer that encodes one image at the end of a chain of consumers.
    ///
    /// The calls of the consumer throw ``ImageEncodingError``, or the error that `output` throws. Memory is O(*w*) when
    /// the format allows it; otherwise the encoder collects the whole image. ``PixelRowConsumer/byteCount(for:)`` of
    /// the consumer returns the memory, without the bytes that it has passed to `output`.
    ///
    /// - Parameter output: A closure that receives the encoded bytes in pieces. The bytes are valid only during the
    ///   call.
    func makeRowEncoder(output: @escaping (RawSpan) throws -> Void) -> any PixelRowConsumer

    /// Returns the maximum number of bytes that encoding an image of this size holds at once beside the image: the
    /// memory of the codec library, and the encoded bytes. Callers use it to stay within a memory budget.
    ///
    /// The default implementation returns twice the bytes of the image.
    func encodingByteCount(of size: PixelSize, format: PixelFormat) -> Int

    /// Returns the maximum number of bytes that encoding an image with this number of frames holds at once beside the
    /// image.
    ///
    /// The default implementation returns the number for a still image, and for an animation adds eight canvases, for
    /// the frames that are read ahead and compared, and the bytes of the pixels of each frame after the first: its
    /// encoded bytes, which are copied when the file is put together. Frames that cannot be compressed can need more.
    func encodingByteCount(of size: PixelSize, format: PixelFormat, frameCount: Int) -> Int

    /// Returns an encoder that also writes metadata: EXIF, XMP, IPTC and the resolution, as far as the format holds
    /// them. The color profile is that of each encoded image, not that of the metadata.
    ///
    /// ```swift
    /// let metadata = ImageMetadata(resolution: ImageResolution(pixelsPerInch: 300))
    /// let data = try ImageEncoder.png().embedding(metadata).encode(image)
    /// ```
    ///
    /// The orientation and the size of each encoded image, and the resolution if there is one, replace those in the
    /// EXIF data. The preview image in the EXIF data is not written, because it shows another image. The default
    /// implementation returns the encoder unchanged, for formats without metadata.
    func embedding(_ metadata: ImageMetadata) -> Self

    /// Returns an encoder with at most a quality, or nil if no quality of the encoder makes files smaller, as without
    /// loss. ``limitingFileSize(to:)`` uses it.
    ///
    /// The default implementation returns nil.
    ///
    /// - Parameter quality: The quality from 0 (smallest files) to 1, as ``CodecRegistry/encoder(for:quality:)`` takes
    ///   it. An encoder with a lower quality is returned unchanged.
    func limitingQuality(to quality: Double) -> Self?
}

extension ImageEncoding {
    /// True.
    public var holdsDeepSamples: Bool { true }

    /// Returns twice the bytes of the image.
    public func encodingByteCount(of size: PixelSize, format: PixelFormat) -> Int {
        size.encodingByteCount(perPixel: 2 * format.bytesPerPixel)
    }

    /// Encodes the whole image, and then compares the size of the file with the limit.
    ///
    /// - Throws: ``ImageEncodingError`` as ``encode(_:)`` does, and `exceedsLimit`.
    public func encode(_ image: DecodedImage, maximumByteCount: Int) throws(ImageEncodingError) -> Data {
        let file = try encode(image)
        guard file.count <= maximumByteCount else { throw .exceeds(maximumByteCount, format) }
        return file
    }

    /// Returns the encoder unchanged.
    public func embedding(_ metadata: ImageMetadata) -> Self { self }

    /// Returns nil.
    public func limitingQuality(to quality: Double) -> Self? { nil }

    /// Returns an encoder that also writes EXIF data, and no other metadata. See ``embedding(_:)``.
    ///
    /// - Parameter exif: The EXIF data, starting with the TIFF header.
    public func embedding(exif: Data) -> Self { embedding(ImageMetadata(exif: exif)) }

    /// Returns the maximum number of bytes that encoding an image, with all its frames if the format supports them,
    /// holds at once beside the image.
    package func encodingByteCount(of image: DecodedImage) -> Int {
        encodingByteCount(
            of: image.size, format: image.pixels.format,
            frameCount: canEncode(image) ? image.frames?.frameCount ?? 1 : 1)
    }

    /// Returns the number for a still image, and for an animation adds eight canvases, and the bytes of the pixels of
    /// each frame after the first.
    public func encodingByteCount(of size: PixelSize, format: PixelFormat, frameCount: Int) -> Int {
        encodingByteCount(of: size, format: format)
            .addingClamped(
                size.framesByteCount(format: format, frameCount: frameCount, perPixel: format.bytesPerPixel))
    }

    /// Encodes an image, if the encoder and the encoded bytes hold no more memory than a limit.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - limit: The maximum number of bytes that are held at once beside the image.
    ///   - name: The property or the option that sets the limit, for the message.
    /// - Throws: ``ImageEncodingError``: that of the encoder, and `exceedsLimit`: before the encode if the expected
    ///   memory exceeds the limit, or during it if the bytes of an animation do.
    package func encode(
        _ image: DecodedImage, limit: Int, named name: String
    ) throws(ImageEncodingError) -> Data {
        let expected = encodingByteCount(of: image)
        try check(expected, of: image.size, limit: limit, named: name)
        // The bytes of an animation may need as much as was expected of its frames, or all that its canvases leave.
        let (size, format) = (image.size, image.pixels.format)
        let first = encodingByteCount(of: size, format: format, frameCount: 1)
        let pair = encodingByteCount(of: size, format: format, frameCount: 2)
        let allowed = image.isAnimated ? max(expected - first, limit - pair) : limit
        do {
            return try encode(image, maximumByteCount: allowed)
        } catch {
            guard error.code == .exceedsLimit else { throw error }
            throw ImageEncodingError(
                .exceedsLimit,
                "\(self.format): encoding an image of \(size) pixels needs more memory than the limit of "
                    + "\(limit.byteCountText) (\(name))")
        }
    }

    /// Throws `exceedsLimit` when encoding an image of a size holds more bytes than a limit.
    package func check(
        _ byteCount: Int, of size: PixelSize, limit: Int, named name: String
    ) throws(ImageEncodingError) {
        guard byteCount > limit else { return }
        throw ImageEncodingError(
            .exceedsLimit,
            "\(format): encoding an image of \(size) pixels needs \(byteCount.byteCountText) of memory; the limit is "
                + "\(limit.byteCountText) (\(name))")
    }

    /// Whether the image is a still image.
    public func canEncode(_ image: DecodedImage) -> Bool { !image.isAnimated }

    /// Returns a row consumer that collects the whole image and encodes it at the end. Its calls also throw
    /// ``ImageDecodingError`` when the image cannot be collected.
    public func makeRowEncoder(output: @escaping (RawSpan) throws -> Void) -> any PixelRowConsumer {
        makeBufferingRowEncoder(output: output)
    }

    /// Returns a row consumer that collects the whole image and encodes it at the end, for encoders that take single
    /// rows only with some of their settings.
    package func makeBufferingRowEncoder(output: @escaping (RawSpan) throws -> Void) -> any PixelRowConsumer {
        BufferingRowEncoder(
            encode: { (image) throws(ImageEncodingError) in try encode(image) },
            encodingByteCount: { encodingByteCount(of: $0, format: $1) }, output: output)
    }
}

/// A row consumer that collects all rows, for an encoder that needs the whole image.
private final class BufferingRowEncoder: PixelRowConsumer {
    private let encode: (DecodedImage) throws(ImageEncodingError) -> Data
    private let encodingByteCount: (PixelSize, PixelFormat) -> Int
    private let output: (RawSpan) throws -> Void
    private let collector = PixelRowCollector()

    init(
        encode: @escaping (DecodedImage) throws(ImageEncodingError) -> Data,
        encodingByteCount: @escaping (PixelSize, PixelFormat) -> Int, output: @escaping (RawSpan) throws -> Void
    ) {
        self.encode = encode
        self.encodingByteCount = encodingByteCount
        self.output = output
    }

    func begin(_ header: PixelRowHeader) throws { try collector.begin(header) }

    func consume(_ row: RawSpan) throws { try collector.consume(row) }

    /// Returns the bytes of the image, and those that encoding it holds.
    func byteCount(for header: PixelRowHeader) -> Int {
        collector.byteCount(for: header).addingClamped(encodingByteCount(header.size, header.format))
    }

    func finish() throws {
        try collector.finish()
        guard let image = collector.image else { return }
        let data = try encode(image)
        try data.withUnsafeBytes { try output($0.bytes) }
    }
}

/// An encoder that can write metadata.
package protocol MetadataEncoding: ImageEncoding {
    /// The metadata to write. The color profile is ignored.
    var metadata: ImageMetadata { get set }
}

extension MetadataEncoding {
    /// Returns an encoder that also writes metadata.
    package func embedding(_ metadata: ImageMetadata) -> Self {
        var encoder = self
        encoder.metadata = metadata
        encoder.metadata.exif = metadata.exif.map(ImageMetadata.tiff)
        if format != .png { encoder.metadata.moveTextsToEXIF() }
        return encoder
    }
}
