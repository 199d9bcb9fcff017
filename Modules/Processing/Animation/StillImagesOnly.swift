public import AlcedoCore

extension ImageProcessors {
    /// Lets a processor change still images, and leaves animations as they are.
    ///
    /// - Complexity: The processor's.
    public struct StillImagesOnly: HashableByIdentifier {
        package let processor: any ImageProcessing

        package init(_ processor: any ImageProcessing) { self.processor = processor }

        public var identifier: String { "stillsonly(\(processor.identifier))" }

        /// - Throws: What the processor throws.
        public func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            image.isAnimated ? image : try processor.process(image)
        }

        /// Rows are a still picture's.
        public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { processor.rows(into: next) }
    }
}

extension ImageProcessing where Self == ImageProcessors.StillImagesOnly {
    /// Processes still images by `processor`, and leaves animations unchanged.
    public static func stillImagesOnly(_ processor: any ImageProcessing) -> Self { Self(processor) }
}
