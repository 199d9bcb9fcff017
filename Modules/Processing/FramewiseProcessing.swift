import AlcedoCore

/// A processor that processes every frame of an animation as a still image.
protocol FramewiseProcessing: ImageProcessing {
    /// Returns the changed image, given a still one. Frames of equal sizes must come out equally large.
    func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage
}

extension FramewiseProcessing {
    package func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        try image.processingFrames { still throws(ImageProcessingError) in try processed(still) }
    }
}

extension DecodedImage {
    /// Returns the processed image: a still image is processed at once; of an animation the first frame at once, and every
    /// other frame each time that it is asked for.
    ///
    /// The delays and the number of plays stay. Only the canvases of the source are kept in memory.
    ///
    /// - Parameter process: Processes one frame, given as a still image. It makes frames of equal sizes equally large.
    /// - Throws: What `process` throws for the first frame. For another frame ``ImageFrameSource/frame(at:)`` throws it.
    func processingFrames(
        _ process: @escaping @Sendable (DecodedImage) throws(ImageProcessingError) -> DecodedImage
    ) throws(ImageProcessingError) -> DecodedImage {
        var first = self
        first.frames = nil
        var result = try process(first)
        guard isAnimated, let frames else { return result }
        result.frames = ProcessedFrames(frames, of: first, size: result.size, process)
        return result
    }
}

/// The frames of an animation, each processed when it is asked for.
///
/// A class, so that memory caches can refer to it weakly.
private final class ProcessedFrames: DerivedFrameSource {
    let source: any ImageFrameSource
    private let process: @Sendable (_ pixels: PixelBuffer) throws(ImageProcessingError) -> DecodedImage
    let canvasSize: PixelSize

    init(
        _ frames: any ImageFrameSource, of image: DecodedImage, size: PixelSize,
        _ process: @escaping @Sendable (DecodedImage) throws(ImageProcessingError) -> DecodedImage
    ) {
        source = frames
        canvasSize = size
        // Captures the properties and not the image, whose pixels would stay in memory.
        self.process = {
            [
                colorProfile = image.colorProfile, orientation = image.orientation, scale = image.scale,
                format = image.format, fullSize = image.fullSize
            ] pixels throws(ImageProcessingError) in
            var frame = DecodedImage(
                pixels: pixels, colorProfile: colorProfile, orientation: orientation, scale: scale, format: format)
            frame.fullSize = fullSize
            return try process(frame)
        }
    }

    func frame(at index: Int) throws -> PixelBuffer { try process(try source.frame(at: index)).pixels }
}
