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
    /// Opens an image: reads what precedes the pixels, once for all that the reader is asked.
    ///
    /// ```swift
    /// let reader = try MyDecoder().open(data, limits: DecodingLimits())
    /// if reader.header.size.pixelCount < 1_000_000 { show(try reader.decode(DecodingOptions())) }
    /// ```
    ///
    /// Default: a reader that calls the other requirements, each of which reads the header again.
    ///
    /// - Parameters:
    ///   - data: The encoded image, which the reader keeps.
    ///   - limits: The limits of the header and the metadata. ``ImageReading/decode(_:)`` also applies those of its
    ///     options.
    /// - Throws: ``ImageDecodingError`` when no image can be decoded from the data, whatever the options are. What only
    ///   ``ImageReading/info()`` needs is no error here.
    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading

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
    /// Returns a reader that calls the other requirements. Never throws.
    public func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        SeparateReader(self, data, limits)
    }

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
        IncrementalDecoder(BufferingState(self, options))
    }

    /// Returns the number of bytes of the full-size image, plus those of the upright image when the orientation must be
    /// applied. Throws the errors of ``inspect(_:limits:)``.
    public func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
        ImageHeader(try inspect(data, limits: options.limits)).decodingByteCount(options)
    }
}

/// A decoder whose readers read the header once. The other requirements open a reader for one call.
public protocol OpeningDecoder: ImageDecoding {}

extension OpeningDecoder {
    public func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        try open(data, limits: limits).info()
    }

    public func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        try open(data, limits: options.limits).decode(options)
    }

    @discardableResult
    public func decodeRows(
        _ data: Data, options: DecodingOptions, into consumer: any PixelRowConsumer
    ) throws -> ImageDamage? {
        try open(data, limits: options.limits).decodeRows(options, into: consumer)
    }

    public func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
        try open(data, limits: options.limits).decodingByteCount(options)
    }
}

/// The reader of a decoder that does not implement `open`.
private final class SeparateReader: ImageReading {
    private let decoder: any ImageDecoding
    private let data: Data
    private let limits: DecodingLimits

    init(_ decoder: any ImageDecoding, _ data: Data, _ limits: DecodingLimits) {
        (self.decoder, self.data, self.limits) = (decoder, data, limits)
    }

    lazy var header: ImageHeader = {
        // An image that cannot be inspected may still be decoded in part.
        (try? info()).map(ImageHeader.init)
            ?? ImageHeader(format: ImageFormat(rawValue: ""), size: PixelSize(width: 0, height: 0))
    }()

    func info() throws(ImageDecodingError) -> ImageInfo { try decoder.inspect(data, limits: limits) }

    func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
        try decoder.decodingByteCount(data, options: options)
    }

    func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        try decoder.decode(data, options: options)
    }

    func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
        try decoder.decodeRows(data, options: options, into: consumer)
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

/// The state of incremental decoding for decoders that do not support it: collects all bytes and opens them at the end.
private final class BufferingState: IncrementalDecodingState {
    private let decoder: any ImageDecoding
    private let options: DecodingOptions
    private var data = Data()
    private(set) var info: ImageInfo?

    /// The value is always nil, because `append` and `preview` decode nothing.
    var decodingByteCount: Int? { nil }

    init(_ decoder: any ImageDecoding, _ options: DecodingOptions) {
        self.decoder = decoder
        self.options = options
    }

    func append(_ bytes: Data) throws(ImageDecodingError) { data.append(bytes) }

    func preview() throws(ImageDecodingError) -> ImagePreview? { nil }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        let reader = try decoder.open(data, limits: options.limits)
        info = try? reader.info()
        return try reader.decode(options)
    }
}
