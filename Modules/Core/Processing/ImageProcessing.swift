public import AlcedoRuntime

/// An operation on decoded images, such as a resize or a tint.
///
/// ```swift
/// struct RedBlueSwap: ImageProcessing {
///     let identifier = "com.example.red-blue-swap"
///
///     func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
///         guard image.pixels.format.bytesPerPixel == 4 else {
///             throw ImageProcessingError(.unsupportedFormat, "the image is not in 8-bit RGB")
///         }
///         var result = image
///         result.frames = nil
///         result.pixels.withUnsafeMutableBytes { bytes in
///             for pixel in stride(from: 0, to: bytes.count, by: 4) { bytes.swapAt(pixel, pixel + 2) }
///         }
///         return result
///     }
/// }
/// ```
///
/// Several threads may call a processor at the same time. Every call blocks while it works. A processor is a value
/// whose result depends only on the image and on ``identifier``: processors with equal identifiers must produce equal
/// results.
public protocol ImageProcessing: Sendable {
    /// The name of the processor with all its parameters.
    ///
    /// Cache keys contain the identifier, so it must not change between releases unless the result changes.
    var identifier: String { get }
    /// The smallest size of the decoded image from which the result is as good as from the full image; nil if the
    /// processor needs the full size. Default: nil. The value must depend only on ``identifier``.
    ///
    /// When a request has no target size of its own, the pipeline decodes the image for the target of the request's
    /// first processor. The processor then receives an image that is at least as large as the target requires, or the
    /// full image. The results for both must look the same, because they are stored under the same cache key.
    var decodingTarget: TargetSize? { get }
    /// The processors that a combination of processors applies in order; for any other processor, the processor itself.
    /// Default: the processor itself.
    ///
    /// A combination of combinations applies the components of all, so that its ``identifier`` does not depend on how
    /// they are grouped.
    var components: [any ImageProcessing] { get }
    /// Returns the changed image. The result for a partial image must be marked as partial.
    ///
    /// The first frame of an animation is in ``DecodedImage/pixels``. A processor for single images sets
    /// ``DecodedImage/frames`` of its result to nil and returns a still image. All processors of AlcedoProcessing that
    /// change pixels keep animations: they process each frame when it is requested.
    ///
    /// - Throws: ``ImageProcessingError`` when the image cannot be processed.
    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage
    /// Returns a consumer that processes rows and passes the rows of the result to `next`. The pixels must be
    /// bit-identical to the result of ``process(_:)``.
    ///
    /// A processor that can work on rows needs memory for only a few of them, which its consumer returns as
    /// ``PixelRowConsumer/byteCount(for:)``. The default implementation collects the image, processes it and sends the
    /// rows of the result.
    func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer
}

extension ImageProcessing {
    /// The default, nil, which means that the processor needs the full size.
    public var decodingTarget: TargetSize? { nil }

    /// The processor itself.
    public var components: [any ImageProcessing] { [self] }

    /// Returns a consumer that collects the whole image, processes it and sends the rows of the result.
    public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer {
        WholeImageStage(next: next, target: decodingTarget) { try process($0) }
    }
}

/// An error that prevented a processor from producing an image.
public struct ImageProcessingError: CodedError {
    /// The kind of failure.
    public enum Code: String, Sendable {
        /// A parameter is invalid for every image.
        case invalidParameter
        /// The processor does not support the pixel format of the image.
        case unsupportedFormat
        /// The result, or the memory that processing needs, exceeds a limit or cannot be allocated.
        case tooLarge
    }

    /// The kind of failure, for callers to switch on.
    public var code: Code
    /// A one-sentence description for logs.
    package var message: String

    /// Creates an error. Processors outside this package use this initializer too.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// A stage in a chain of row consumers for a processor that needs the whole image.
package final class WholeImageStage: PixelRowConsumer {
    private let process: (DecodedImage) throws -> DecodedImage
    private let next: any PixelRowConsumer
    private let target: TargetSize?
    private let collector = PixelRowCollector()

    /// Creates a stage.
    ///
    /// - Parameters:
    ///   - next: The consumer of the processed rows.
    ///   - target: The size that bounds the result; nil if it can be as large as the image. Default: nil.
    ///   - process: A closure that returns the processed image.
    package init(
        next: any PixelRowConsumer, target: TargetSize? = nil,
        _ process: @escaping (DecodedImage) throws -> DecodedImage
    ) {
        self.process = process
        self.next = next
        self.target = target
    }

    package func begin(_ header: PixelRowHeader) throws { try collector.begin(header) }

    package func consume(_ row: RawSpan) throws { try collector.consume(row) }

    package func finish() throws {
        try collector.finish()
        guard let image = collector.image else { return }
        try process(image).sendRows(to: next)
    }

    /// Returns the bytes of the image and of the result.
    package func byteCount(for header: PixelRowHeader) -> Int {
        var result = header
        if let target { result.size = header.size.scaled(to: target.size, mode: target.mode) }
        return collector.byteCount(for: header).addingClamped(collector.byteCount(for: result))
            .addingClamped(next.byteCount(for: result))
    }
}
