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

/// The frames of an animation, each changed by a processor when it is asked for.
private struct ProcessedFrames: ImageFrameSource {
    private let frames: any ImageFrameSource
    private let processor: any ImageProcessing
    /// Says of a frame what is known of the picture besides its pixels, such as its orientation.
    private let described: @Sendable (_ pixels: PixelBuffer) -> DecodedImage
    let canvasSize: PixelSize

    init(
        _ frames: any ImageFrameSource, of image: DecodedImage, processor: any ImageProcessing, size: PixelSize
    ) {
        self.frames = frames
        self.processor = processor
        canvasSize = size
        // Not the image itself, whose pixels would stay in memory.
        described = {
            [
                colorProfile = image.colorProfile, orientation = image.orientation, scale = image.scale,
                format = image.format
            ] in
            DecodedImage(
                pixels: $0, colorProfile: colorProfile, orientation: orientation, scale: scale, format: format)
        }
    }

    var frameCount: Int { frames.frameCount }
    var playCount: Int? { frames.playCount }
    var cost: Int { frames.cost }

    func delay(at index: Int) -> Duration { frames.delay(at: index) }

    func rawDelay(at index: Int) -> Duration { frames.rawDelay(at: index) }

    func frame(at index: Int) throws -> PixelBuffer {
        try processor.process(described(try frames.frame(at: index))).pixels
    }
}
