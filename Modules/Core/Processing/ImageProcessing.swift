/// Changes a decoded image.
///
/// Calls may come from any thread at the same time and block while they work. A processor is a value whose work is
/// determined by its ``identifier`` alone: equal identifiers, equal results.
public protocol ImageProcessing: Sendable {
    /// Names the processor and all its parameters. Part of cache keys, so it must not change between releases unless
    /// the result does.
    var identifier: String { get }
    /// Returns the changed image: of an animation the first frame unless the processor says otherwise, of a partial image
    /// one that is marked as partial.
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
    public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer {
        WholePictureStage(next: next) { try process($0) }
    }
}
