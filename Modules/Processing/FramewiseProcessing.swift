import AlcedoCore

/// A processor that processes every frame of an animation as a still image.
protocol FramewiseProcessing: ImageProcessing {
    /// Returns the processed image of a still image. Results for frames of equal size must have equal sizes.
    func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage
}

extension FramewiseProcessing {
    package func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        try image.processingFrames { still throws(ImageProcessingError) in try processed(still) }
    }
}

extension DecodedImage {
    /// Returns the processed image. A still image and the first frame of an animation are processed immediately. Every
    /// frame of an animation is processed each time it is requested.
    ///
    /// The delays and the number of plays are kept. Only the source canvases are kept in memory.
    ///
    /// - Parameter process: A closure that processes one frame, which it receives as a still image. For frames of equal
    ///   size, it must return images of equal size.
    /// - Throws: The error that `process` throws for the first frame. ``/AlcedoCore/ImageFrameSource/frame(at:)``
    ///   throws the errors for requested frames.
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

    /// Returns a still image with other pixels. The color profile, orientation, scale, format and damage are kept. The
    /// reduction is not kept. The animation is removed, because its frames would no longer match.
    func still(_ pixels: PixelBuffer) -> DecodedImage {
        DecodedImage(
            pixels: pixels, colorProfile: colorProfile, orientation: orientation, scale: scale, format: format,
            damage: damage)
    }
}

/// The frames of an animation, each processed when it is requested.
///
/// A class, so that memory caches can hold a weak reference to it.
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
        // Captures the properties instead of the image, which would keep its pixels in memory.
        self.process = {
            [
                colorProfile = image.colorProfile, orientation = image.orientation, scale = image.scale,
                format = image.format, reduction = image.reduction
            ] pixels throws(ImageProcessingError) in
            var frame = DecodedImage(
                pixels: pixels, colorProfile: colorProfile, orientation: orientation, scale: scale, format: format)
            frame.reduction = reduction
            return try process(frame)
        }
    }

    func frame(at index: Int) throws -> PixelBuffer { try process(try source.frame(at: index)).pixels }
}
