public import FoundationEssentials

/// A decoder of one image format.
///
/// Several threads may call a decoder at the same time. Every call blocks while it works, so do not call a decoder on
/// Swift's cooperative thread pool.
///
/// The input is untrusted: no bytes may make a decoder crash, hang, read outside `data` or allocate more than the
/// limits allow. A codec must implement ``inspect(_:limits:)`` and ``decode(_:options:)``. The other requirements have
/// default implementations for a codec that can only decode a whole image at once.
public protocol ImageDecoding: Sendable {
    /// Returns the properties of an image without decoding pixels.
    ///
    /// - Throws: ``ImageDecodingError`` when the properties cannot be read. Some codecs also throw `exceedsLimit` when
    ///   the image exceeds `limits`.
    /// - Complexity: O(*n*), where *n* is the number of blocks or chunks in the file, because further frames and
    ///   metadata can follow the pixels of the first frame. Allocates no memory for pixels.
    func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo

    /// Decodes an image. For an animation, the result holds the first frame. If
    /// ``DecodingOptions/includesAnimation`` is true, ``DecodedImage/frames`` provides all frames.
    ///
    /// - Throws: ``ImageDecodingError`` when the data is damaged, unsupported or exceeds the limits, or when memory is
    ///   exhausted. Damage up to ``DecodingOptions/tolerance`` is no error: ``DecodedImage/damage`` of the image
    ///   describes it.
    /// - Complexity: O(*w* × *h*). Peak memory is one output buffer plus the memory that the format requires.
    func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage

    /// Decodes an image, or the first frame of an animation, and passes its rows to `consumer`.
    ///
    /// The rows are the same as those of ``decode(_:options:)``, without the animation. Memory is O(*w*) when the codec
    /// can decode the file row by row from top to bottom and the orientation does not change the order of the rows.
    /// Each row is then passed on right after it is decoded. In all other cases, the decoder also holds the memory that
    /// the format and the rotation require, up to the whole image.
    ///
    /// An error can occur after rows were passed on, so a consumer must not use its result before
    /// ``PixelRowConsumer/finish()``. Partial images are not produced, even if the options allow them.
    ///
    /// - Returns: The worst damage of the file that was tolerated, as ``DecodedImage/damage``. Its kind is never
    ///   `.missingPixels`.
    /// - Throws: ``ImageDecodingError`` as ``decode(_:options:)`` does, or the error that the consumer throws.
    @discardableResult
    func decodeRows(
        _ data: Data, options: DecodingOptions, into consumer: any PixelRowConsumer
    ) throws -> ImageDamage?

    /// Returns a decoder for an image whose bytes arrive in pieces.
    func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding

    /// Returns the maximum number of bytes that decoding holds at once, without the encoded file. Callers use it to
    /// stay within a memory budget.
    ///
    /// - Throws: ``ImageDecodingError``, as ``inspect(_:limits:)`` does.
    func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int
}

extension ImageDecoding {
    /// Decodes the whole image, then passes on its rows. Throws the errors of ``decode(_:options:)``, or the error that
    /// the consumer throws.
    @discardableResult
    public func decodeRows(
        _ data: Data, options: DecodingOptions, into consumer: any PixelRowConsumer
    ) throws -> ImageDamage? {
        try decode(data, options: options.forRows).sendRows(to: consumer)
    }

    /// Returns a decoder that collects all bytes and decodes them at the end, without previews.
    public func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
        IncrementalDecoder(
            BufferingState(
                inspect: { (data) throws(ImageDecodingError) in try inspect(data, limits: options.limits) },
                decode: { (data) throws(ImageDecodingError) in try decode(data, options: options) }))
    }

    /// Returns the number of bytes of the full-size image, plus those of the upright image when the orientation must be
    /// applied. Throws the errors of ``inspect(_:limits:)``.
    public func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
        let info = try inspect(data, limits: options.limits)
        // The rotated image is made in a second buffer beside the stored one. Rows are padded, so an image with swapped
        // sides can need more bytes.
        let sizes = options.appliesOrientation && info.orientation != .up ? [info.size, info.uprightSize] : [info.size]
        return sizes.reduce(0) { sum, size in
            let bytes = PixelBuffer.byteCount(size: size, format: options.pixelFormat) ?? Int.max
            let (total, overflow) = sum.addingReportingOverflow(bytes)
            return overflow ? Int.max : total
        }
    }
}

extension Data {
    /// Calls `body` with the bytes, for a C decoder, and returns its result. The pointer is valid only inside `body`.
    ///
    /// - Parameters:
    ///   - format: The name of the format, for the error.
    ///   - body: The closure that receives the bytes.
    /// - Throws: ``ImageDecodingError`` `empty` when the data is empty, or the error that `body` throws.
    package func withDecoderInput<Result>(
        of format: String, _ body: (UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> Result
    ) throws(ImageDecodingError) -> Result {
        try bytes.withUnsafeBytes { memory throws(ImageDecodingError) in
            guard !memory.isEmpty else { throw ImageDecodingError(.empty, "\(format): the data is empty") }
            return try body(memory.assumingMemoryBound(to: UInt8.self))
        }
    }
}

/// The state of incremental decoding for decoders that do not support it: collects all bytes and decodes them at the
/// end.
private final class BufferingState: IncrementalDecodingState {
    private let inspect: (Data) throws(ImageDecodingError) -> ImageInfo
    private let decode: (Data) throws(ImageDecodingError) -> DecodedImage
    private var data = Data()
    private(set) var info: ImageInfo?

    /// The value is always nil, because `append` and `preview` decode nothing.
    var decodingByteCount: Int? { nil }

    init(
        inspect: @escaping (Data) throws(ImageDecodingError) -> ImageInfo,
        decode: @escaping (Data) throws(ImageDecodingError) -> DecodedImage
    ) {
        self.inspect = inspect
        self.decode = decode
    }

    func append(_ bytes: Data) throws(ImageDecodingError) { data.append(bytes) }

    func preview() throws(ImageDecodingError) -> ImagePreview? { nil }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        info = try? inspect(data)
        return try decode(data)
    }
}
