public import AlcedoRuntime
public import FoundationEssentials

/// Turns pixels into encoded bytes of one format.
///
/// Calls may come from any thread at the same time and block while they work. Colour profile and orientation are kept
/// as the format allows; each encoder says how.
public protocol ImageEncoding: Sendable {
    /// The format of the bytes.
    var format: ImageFormat { get }

    /// Whether files of the format can hold the frames of the image, and that there are transparent places in it. How many
    /// colours and shades they hold does not count. Default: true for anything but animations.
    func holds(_ image: DecodedImage) -> Bool

    /// Encodes the image; of an animation all frames where the format can hold them, otherwise the first.
    ///
    /// - Throws: ``ImageEncodingError``.
    func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data

    /// Makes an encoder of one picture whose rows are still to come, the end of a chain of consumers.
    ///
    /// Its calls throw ``ImageEncodingError``, or what `output` throws. Memory is O(*w*) where the format allows it;
    /// others collect the picture.
    ///
    /// - Parameter output: Takes the encoded bytes piece by piece, valid during the call only.
    func makeRowEncoder(output: @escaping (RawSpan) throws -> Void) -> any PixelRowConsumer

    /// Returns an encoder that also writes EXIF data.
    ///
    /// The orientation of each encoded image replaces the one in the data. The default returns the encoder unchanged, for
    /// formats without EXIF.
    ///
    /// - Parameter exif: EXIF data from the TIFF header on.
    func embedding(exif: Data) -> Self
}

extension ImageEncoding {
    public func embedding(exif: Data) -> Self { self }

    public func holds(_ image: DecodedImage) -> Bool { !image.isAnimated }

    public func makeRowEncoder(output: @escaping (RawSpan) throws -> Void) -> any PixelRowConsumer {
        BufferingRowEncoder(encode: { (image) throws(ImageEncodingError) in try encode(image) }, output: output)
    }
}

/// Why an image could not be encoded.
public struct ImageEncodingError: CodedError {
    /// What kind of failure it is.
    public enum Code: String, Sendable {
        /// The format cannot hold this image, or not in this pixel format.
        case unsupportedImage
        /// The codec library refused; the message says why.
        case failed
        /// The system refused the memory.
        case outOfMemory
    }

    /// What callers branch on.
    public var code: Code
    /// One sentence, from the codec library where it has one.
    package var message: String

    /// An error of an encoder's own.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// Encodes rows by an encoder that needs the whole picture: collects it first.
private final class BufferingRowEncoder: PixelRowConsumer {
    private let encode: (DecodedImage) throws(ImageEncodingError) -> Data
    private let output: (RawSpan) throws -> Void
    private let collector = PixelRowCollector()

    init(
        encode: @escaping (DecodedImage) throws(ImageEncodingError) -> Data, output: @escaping (RawSpan) throws -> Void
    ) {
        self.encode = encode
        self.output = output
    }

    func begin(_ header: PixelRowHeader) throws { try collector.begin(header) }

    func consume(_ row: RawSpan) throws { try collector.consume(row) }

    func finish() throws {
        try collector.finish()
        guard let image = collector.image else { return }
        let data = try encode(image)
        try data.withUnsafeBytes { try output($0.bytes) }
    }
}

/// An encoder that writes EXIF data.
package protocol EXIFEncoding: ImageEncoding {
    /// The EXIF data to write, from the TIFF header on.
    var exif: Data? { get set }
}

extension EXIFEncoding {
    public func embedding(exif: Data) -> Self {
        var encoder = self
        encoder.exif = exif
        return encoder
    }
}

/// An encoder of a format that holds animations and transparency.
package protocol AnimationEncoding: ImageEncoding {}

extension AnimationEncoding {
    public func holds(_ image: DecodedImage) -> Bool { true }
}
