import AlcedoCore

/// The frames of an animation, each changed by a processor when it is asked for.
struct ProcessedFrames: ImageFrameSource {
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
