public import FoundationEssentials

/// An encoder that waits for bytes that are made elsewhere, such as by a service or a graphics processor.
///
/// ```swift
/// let data = try await pipeline.encode(image, to: MyAsyncEncoder())
/// ```
///
/// A pipeline awaits ``encode(_:)`` in a task, so that it holds no thread of synchronous encoders. The memory counts in
/// the pipeline's budget of decodes. When ``CodecRegistry/Entry/makeAsyncEncoder`` of its format is set, a pipeline
/// also writes processed images of this format to the disk cache with it, and so does an `ImageCache`. Such a write
/// holds its image until the encoder returns. A call that exceeds `asyncCodecTimeout`, by default 60 seconds, is
/// canceled, and the write goes on. The pipeline's `writeTimeout` ends only the waits of callers. Synchronous callers
/// use the ``CodecRegistry/Entry/makeEncoder`` of the entry.
public protocol AsyncImageEncoding: Sendable {
    /// The format of the encoded bytes.
    var format: ImageFormat { get }

    /// Whether files of the format can store the frames and the transparency of the image. Default: true for still
    /// images, false for animations.
    func canEncode(_ image: DecodedImage) -> Bool

    /// Encodes the image, as ``ImageEncoding/encode(_:)`` does. The call must not block its thread, and ends early when
    /// its task is canceled.
    ///
    /// - Throws: ``ImageEncodingError``, or any other error.
    func encode(_ image: DecodedImage) async throws -> Data

    /// Returns the maximum number of bytes that encoding an image holds at once in this process beside the image, with
    /// the encoded bytes. Default: the bytes of the pixels of all frames that the format supports.
    func encodingByteCount(of image: DecodedImage) -> Int
}

extension AsyncImageEncoding {
    /// Whether the image is a still image.
    public func canEncode(_ image: DecodedImage) -> Bool { !image.isAnimated }

    /// Returns the bytes of the pixels of all frames that the format supports.
    public func encodingByteCount(of image: DecodedImage) -> Int {
        let frameCount = canEncode(image) ? image.frames?.frameCount ?? 1 : 1
        let (product, overflows) = image.pixels.byteCount.multipliedReportingOverflow(by: max(1, frameCount))
        return overflows ? .max : product
    }
}
