public import AlcedoCore

/// Makes the rows of an image upright, as its orientation says; the orientation is then `up`.
///
/// Decoders do so already unless they are asked not to. Works on every pixel format and keeps it.
///
/// - Complexity: O(*w* × *h*), one new buffer. Rows that are upright or mirrored pass with the memory of one; others are
///   collected.
public struct Orient: ImageProcessing, Hashable {
    /// Has no parameters.
    public init() {}

    public var identifier: String { "orient" }

    /// - Throws: `tooLarge` when no memory, or more than a gibibyte, would hold the result.
    public func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        var result = try image.turned(from: image.orientation)
        result.orientation = .up
        return result
    }

    public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { RowOrienter(self, next: next) }
}
