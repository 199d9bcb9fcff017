public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Processes every frame of an animation, each when it is requested, and still images as `processor` does.
    ///
    /// For an app's own processors that work on one image at a time, such as a closure: the processors of this package
    /// process every frame anyway. The delays and the number of plays stay. Only the canvases of the source are kept: a
    /// frame that is requested again is processed again. Rows have no frames.
    ///
    /// - Parameter processor: Processes each frame. Frames of equal sizes must have results of equal sizes.
    /// - Complexity: That of the processor, once for the first frame and once for each requested frame.
    public static func everyFrame(_ processor: any ImageProcessing) -> Self {
        Self(ImageProcessors.EveryFrame(processor))
    }

    /// Keeps the first frame of an animation as a still image. Still images stay as they are.
    ///
    /// - Complexity: O(1).
    public static var firstFrame: Self { Self(ImageProcessors.FirstFrame()) }

    /// Processes still images by `processor`, and leaves animations unchanged.
    ///
    /// - Complexity: That of the processor.
    public static func stillImagesOnly(_ processor: any ImageProcessing) -> Self {
        Self(ImageProcessors.StillImagesOnly(processor))
    }
}

extension ImageProcessors {
    /// The processor of `.everyFrame(_:)`.
    package struct EveryFrame: FramewiseProcessing {
        package let processor: any ImageProcessing

        package init(_ processor: any ImageProcessing) { self.processor = processor }

        package var identifier: String { "everyframe(\(processor.identifier))" }

        /// The target of the processor.
        package var decodingTarget: TargetSize? { processor.decodingTarget }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            try processor.process(image)
        }

        package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { processor.rows(into: next) }
    }

    /// The processor of `.firstFrame`.
    package struct FirstFrame: ImageProcessing {
        package init() {}

        package var identifier: String { "firstframe" }

        /// Never throws.
        package func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            image.still(image.pixels)
        }

        package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { next }
    }

    /// The processor of `.stillImagesOnly(_:)`.
    package struct StillImagesOnly: ImageProcessing {
        package let processor: any ImageProcessing

        package init(_ processor: any ImageProcessing) { self.processor = processor }

        package var identifier: String { "stillsonly(\(processor.identifier))" }

        /// - Throws: What the processor throws.
        package func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            image.isAnimated ? image : try processor.process(image)
        }

        /// Rows are those of a still image.
        package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { processor.rows(into: next) }
    }
}
