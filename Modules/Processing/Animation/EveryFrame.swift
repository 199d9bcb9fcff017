public import AlcedoCore

/// Lets a processor change every frame of an animation, each when it is asked for; still images as ever.
///
/// Without it a processor gives the first frame of an animation as a still image. The frames' times and the number of
/// plays stay. Nothing but the source's own canvases is kept: a frame that is asked for again is changed again. Rows have
/// no frames.
///
/// - Complexity: The processor's, once for the first frame and once for each frame that is asked for.
public struct EveryFrame: HashableByIdentifier {
    /// What changes each frame.
    public let processor: any ImageProcessing

    /// Changes every frame by this processor.
    public init(_ processor: any ImageProcessing) { self.processor = processor }

    public var identifier: String { "everyframe(\(processor.identifier))" }

    /// - Throws: What the processor throws for the first frame. For another frame it is thrown by
    ///   ``ImageFrameSource/frame(at:)``.
    public func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        var still = image
        still.frames = nil
        var result = try processor.process(still)
        guard image.isAnimated, let frames = image.frames else { return result }
        result.frames = ProcessedFrames(frames, of: still, processor: processor, size: result.size)
        return result
    }

    public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { processor.rows(into: next) }
}
