public import FoundationEssentials

/// An encoder of a format of this package.
///
/// Each codec module adds a function that creates an encoder, such as `png()` of AlcedoPNG and `jpeg(quality:)` of
/// AlcedoJPEG. Where an encoder is expected, the function is called in its short form:
///
/// ```swift
/// let data = try await ImageConverter().convert(upload, to: .webp(quality: 80))
/// ```
///
/// Elsewhere the name of this type precedes it:
///
/// ```swift
/// let data = try ImageEncoder.jpeg(quality: 80).encode(image)
/// ```
///
/// An app's own encoder is a type that conforms to ``ImageEncoding``.
public struct ImageEncoder: ImageEncoding {
    private let encoder: any ImageEncoding

    package init(_ encoder: any ImageEncoding) { self.encoder = encoder }

    /// The format of the encoded bytes.
    public var format: ImageFormat { encoder.format }

    /// Whether files of the format can store the frames and the transparency of the image.
    public func canEncode(_ image: DecodedImage) -> Bool { encoder.canEncode(image) }

    /// Whether files of the encoder hold more than 8 bits a sample, and a high dynamic range.
    public var holdsDeepSamples: Bool { encoder.holdsDeepSamples }

    /// Encodes a whole image.
    ///
    /// - Throws: ``ImageEncodingError`` when the format cannot represent the image, the codec library fails, or memory
    ///   is exhausted.
    public func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data { try encoder.encode(image) }

    /// Encodes a whole image, if the encoded bytes need no more memory than a limit.
    ///
    /// GIF, JPEG XL, APNG and animated WebP end while they encode. The other formats compare the size of the file,
    /// because their libraries do not tell the number of bytes before.
    ///
    /// - Throws: ``ImageEncodingError`` as ``encode(_:)`` does, and `exceedsLimit`.
    public func encode(_ image: DecodedImage, maximumByteCount: Int) throws(ImageEncodingError) -> Data {
        try encoder.encode(image, maximumByteCount: maximumByteCount)
    }

    /// Returns a row consumer that encodes one image and passes the encoded bytes to `output` in pieces.
    public func makeRowEncoder(output: @escaping (RawSpan) throws -> Void) -> any PixelRowConsumer {
        encoder.makeRowEncoder(output: output)
    }

    /// Returns the maximum number of bytes that encoding an image of this size holds at once beside the image.
    public func encodingByteCount(of size: PixelSize, format: PixelFormat) -> Int {
        encoder.encodingByteCount(of: size, format: format)
    }

    /// Returns the maximum number of bytes that encoding an image with this number of frames holds at once beside the
    /// image.
    public func encodingByteCount(of size: PixelSize, format: PixelFormat, frameCount: Int) -> Int {
        encoder.encodingByteCount(of: size, format: format, frameCount: frameCount)
    }

    /// Returns an encoder that also writes metadata. For a format without metadata, returns the encoder unchanged.
    public func embedding(_ metadata: ImageMetadata) -> Self { Self(encoder.embedding(metadata)) }

    /// Returns an encoder with at most a quality from 0 to 1, or nil if no quality makes the files smaller.
    public func limitingQuality(to quality: Double) -> Self? { encoder.limitingQuality(to: quality).map { Self($0) } }
}
