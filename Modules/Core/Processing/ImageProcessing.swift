/// Changes a decoded image.
///
/// Calls may come from any thread at the same time and block while they work. A processor is a value whose work is
/// determined by its ``identifier`` alone: equal identifiers, equal results.
public protocol ImageProcessing: Sendable {
    /// Names the processor and all its parameters. Part of cache keys, so it must not change between releases unless
    /// the result does.
    var identifier: String { get }
    /// Returns the changed image: of an animation the first frame, of a partial image one that is marked as partial.
    ///
    /// - Throws: ``ImageProcessingError``.
    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage
}
