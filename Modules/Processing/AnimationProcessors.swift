public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Processes every frame of an animation with `processor`: the first frame immediately, and each frame whenever it
    /// is requested. Still images are processed once.
    ///
    /// ```swift
    /// let request = ImageRequest(url: url, processors: [.everyFrame(MyProcessor())])
    /// ```
    ///
    /// Use this for an app's own processors that change one image at a time, such as a closure. The processors of this
    /// package already process every frame. The delays and the number of plays are kept. Only the source canvases are
    /// kept in memory: a frame that is requested again is processed again. Row-by-row processing handles still images
    /// only and uses the rows of `processor`.
    ///
    /// - Parameter processor: The processor of each frame. For frames of equal size, it must return images of equal
    ///   size.
    /// - Complexity: The cost of `processor`, once for the first frame and once for each requested frame.
    public static func everyFrame(_ processor: any ImageProcessing) -> Self {
        Self(ImageProcessors.EveryFrame(processor))
    }

    /// Keeps the first frame of an animation as a still image. The pixels of still images do not change.
    ///
    /// - Complexity: O(1).
    public static var firstFrame: Self { Self(ImageProcessors.FirstFrame()) }

    /// Processes still images with `processor` and returns animations unchanged.
    ///
    /// - Complexity: The cost of `processor`.
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

        /// The decoding target of `processor`.
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

        /// Returns the first frame as a still image. Never throws.
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

        /// Processes a still image, and returns an animation unchanged.
        ///
        /// - Throws: The errors of `processor`.
        package func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            image.isAnimated ? image : try processor.process(image)
        }

        /// Returns the row consumer of `processor`, because rows always belong to a still image.
        package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { processor.rows(into: next) }
    }
}
