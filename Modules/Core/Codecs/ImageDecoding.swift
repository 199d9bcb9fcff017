public import FoundationEssentials

/// Turns encoded bytes of one format into pixels.
///
/// Calls may come from any thread at the same time and block while they work, so callers do not call them on the cooperative pool.
/// Input is hostile: no bytes may crash, hang, read outside `data` or allocate beyond the limits. A codec must write
/// the first two; the others have defaults that decode whole images.
public protocol ImageDecoding: Sendable {
    /// Reads what the file says about itself.
    ///
    /// - Throws: ``ImageDecodingError``.
    /// - Complexity: O(header), for animations O(blocks of the file); no memory for pixels.
    func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo

    /// Decodes one whole encoded image; of an animation the first frame, with the others to come from
    /// ``DecodedImage/frames``.
    ///
    /// - Throws: ``ImageDecodingError``. Never returns a part of an image as if it were whole.
    /// - Complexity: O(*w* × *h*); peak memory is one output buffer and what the format itself needs.
    func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage

    /// Decodes one image, of an animation the first frame, and hands over its rows as they are made.
    ///
    /// The rows are those of ``decode(_:options:)`` without the animation. Memory is O(*w*) where the file stores rows from top to bottom and
    /// the orientation leaves them so; otherwise the decoder keeps what the format and the turning need. Damage is
    /// found when rows were handed over already: a consumer relies on ``PixelRowConsumer/finish()``. Partial images are
    /// not given.
    ///
    /// - Throws: ``ImageDecodingError``, or what the consumer throws.
    func decodeRows(_ data: Data, options: DecodingOptions, into consumer: any PixelRowConsumer) throws

    /// Makes a decoder for an image whose bytes are still to come.
    func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding

    /// The most bytes that decoding will hold at once, the encoded file not counted: for budgets.
    ///
    /// - Throws: ``ImageDecodingError`` as ``inspect(_:limits:)``.
    func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int
}

extension ImageDecoding {
    public func decodeRows(_ data: Data, options: DecodingOptions, into consumer: any PixelRowConsumer) throws {
        try decode(data, options: options.forRows).sendRows(to: consumer)
    }

    public func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
        IncrementalDecoder(
            BufferingState(
                inspect: { (data) throws(ImageDecodingError) in try inspect(data, limits: options.limits) },
                decode: { (data) throws(ImageDecodingError) in try decode(data, options: options) }))
    }

    public func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
        let info = try inspect(data, limits: options.limits)
        let bytes = PixelBuffer.byteCount(size: info.size, format: options.pixelFormat) ?? Int.max
        // A turned picture is made beside the stored one.
        let buffers = options.appliesOrientation && info.orientation != .up ? 2 : 1
        let (total, overflow) = bytes.multipliedReportingOverflow(by: buffers)
        return overflow ? Int.max : total
    }
}

extension Data {
    /// Hands the bytes to a C decoder. The pointer is valid inside `body` only.
    ///
    /// - Throws: ``ImageDecodingError`` `empty` when there is not one byte, or what `body` throws.
    package func withDecoderInput<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> Result
    ) throws(ImageDecodingError) -> Result {
        try bytes.withUnsafeBytes { memory throws(ImageDecodingError) in
            guard !memory.isEmpty else { throw ImageDecodingError(.empty, "there are no bytes") }
            return try body(memory.assumingMemoryBound(to: UInt8.self))
        }
    }
}

/// Incremental decoding for decoders that know none: collects the bytes, and decodes them at the end.
private final class BufferingState: IncrementalDecodingState {
    private let inspect: (Data) throws(ImageDecodingError) -> ImageInfo
    private let decode: (Data) throws(ImageDecodingError) -> DecodedImage
    private var data = Data()
    private(set) var info: ImageInfo?

    /// Nothing is decoded before the end.
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
