public import FoundationEssentials

/// A decoder of one image format, or of those of a ``CodecRegistry``.
///
/// ```swift
/// let image = try MyDecoder().decode(data)
/// ```
///
/// Several threads may call a decoder at the same time. Every call blocks while it works, so do not call a decoder on
/// Swift's cooperative thread pool. A decoder that waits, such as for a service, conforms to ``AsyncImageDecoding``.
///
/// The input is untrusted: no bytes may make a decoder crash, hang, read outside `data` or allocate more than the
/// limits allow. A codec implements ``open(_:limits:)``. One that can only decode whole images returns a
/// ``WholeImageReader``.
public protocol ImageDecoding: Sendable {
    /// Opens an image: reads what precedes the pixels, once for all that the reader is asked.
    ///
    /// ```swift
    /// let reader = try MyDecoder().open(data, limits: DecodingLimits())
    /// if reader.header.size.pixelCount < 1_000_000 { show(try reader.decode(DecodingOptions())) }
    /// ```
    ///
    /// - Parameters:
    ///   - data: The encoded image, which the reader keeps.
    ///   - limits: The limits of the header and the metadata. ``ImageReading/decode(_:)`` also applies those of its
    ///     options.
    /// - Throws: ``ImageDecodingError`` when no image can be decoded from the data, whatever the options are. What only
    ///   ``ImageReading/info()`` needs is no error here.
    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading

    /// Returns a decoder for an image whose bytes arrive in pieces.
    ///
    /// Default: a decoder that collects all bytes and opens them at the end, without previews.
    func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding
}

extension ImageDecoding {
    /// Returns a decoder that collects all bytes and decodes them at the end, without previews.
    public func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
        IncrementalDecoder(BufferingState(self, options))
    }

    /// Opens an image and returns its properties: see ``ImageReading/info()``.
    ///
    /// - Throws: ``ImageDecodingError``.
    public func inspect(
        _ data: Data, limits: DecodingLimits = DecodingLimits()
    ) throws(ImageDecodingError) -> ImageInfo {
        try open(data, limits: limits).info()
    }

    /// Opens an image and decodes it: see ``ImageReading/decode(_:)``.
    ///
    /// - Throws: ``ImageDecodingError``.
    public func decode(
        _ data: Data, options: DecodingOptions = DecodingOptions()
    ) throws(ImageDecodingError) -> DecodedImage {
        try open(data, limits: options.limits).decode(options)
    }

    /// Opens an image and passes its rows to `consumer`: see ``ImageReading/decodeRows(_:into:)``.
    ///
    /// - Throws: ``ImageDecodingError``, or the error of the consumer.
    @discardableResult
    public func decodeRows(
        _ data: Data, options: DecodingOptions = DecodingOptions(), into consumer: any PixelRowConsumer
    ) throws -> ImageDamage? {
        try open(data, limits: options.limits).decodeRows(options, into: consumer)
    }

    /// Opens an image and returns the maximum number of bytes that decoding holds at once: see
    /// ``ImageReading/decodingByteCount(_:)``.
    ///
    /// - Throws: ``ImageDecodingError``.
    public func decodingByteCount(
        _ data: Data, options: DecodingOptions = DecodingOptions()
    ) throws(ImageDecodingError) -> Int {
        try open(data, limits: options.limits).decodingByteCount(options)
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
