public import AlcedoRuntime

/// Changes a decoded image.
///
/// Calls may come from any thread at the same time and block while they work. A processor is a value whose work is
/// determined by its ``identifier`` alone: equal identifiers, equal results.
public protocol ImageProcessing: Sendable {
    /// Names the processor and all its parameters. Part of cache keys, so it must not change between releases unless
    /// the result does.
    var identifier: String { get }
    /// The size from which the processor gives as good a result as from the whole picture; nil, the default, where it needs
    /// the full size. Depends on ``identifier`` alone.
    ///
    /// The pipeline decodes towards the target of a request's first processor when the request names none of its own, and
    /// the processor is then given an image that is at least so large, or the whole one. The result must not depend on
    /// which: it may be stored, and is found, under the same key.
    var decodingTarget: TargetSize? { get }
    /// Returns the changed image, of a partial image one that is marked as partial.
    ///
    /// An animated image has its first frame in ``DecodedImage/pixels``. A processor that works on one image at a time
    /// leaves ``DecodedImage/frames`` out of its result, and gives a still image. All processors of AlcedoProcessing that
    /// change pixels keep an animation animated: they process each frame when it is asked for.
    ///
    /// - Throws: ``ImageProcessingError``.
    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage
    /// Returns a consumer of rows that hands on to `next` the rows of the changed picture: the same pixels, to the bit,
    /// as ``process(_:)`` makes of the whole one.
    ///
    /// A processor that can work on rows needs memory for a few of them only. The one that there is for every processor
    /// collects the picture, changes it and sends its rows.
    func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer
}

extension ImageProcessing {
    public var decodingTarget: TargetSize? { nil }

    public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer {
        WholeImageStage(next: next) { try process($0) }
    }
}

/// Why a processor gave no image.
public struct ImageProcessingError: CodedError {
    /// What kind of failure it is.
    public enum Code: String, Sendable {
        /// A parameter makes no sense for any image.
        case invalidParameter
        /// The processor does not work on this pixel format.
        case unsupportedFormat
        /// The result would be larger than a buffer can be.
        case tooLarge
    }

    /// What callers branch on.
    public var code: Code
    /// One sentence, for logs.
    package var message: String

    /// An error of a processor's own.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// A processor that needs the whole picture, in a chain of row consumers.
package final class WholeImageStage: PixelRowConsumer {
    private let process: (DecodedImage) throws -> DecodedImage
    private let next: any PixelRowConsumer
    private let collector = PixelRowCollector()

    /// - Parameter process: What the processor does.
    package init(next: any PixelRowConsumer, _ process: @escaping (DecodedImage) throws -> DecodedImage) {
        self.process = process
        self.next = next
    }

    package func begin(_ header: PixelRowHeader) throws { try collector.begin(header) }

    package func consume(_ row: RawSpan) throws { try collector.consume(row) }

    package func finish() throws {
        try collector.finish()
        guard let image = collector.image else { return }
        try process(image).sendRows(to: next)
    }
}
