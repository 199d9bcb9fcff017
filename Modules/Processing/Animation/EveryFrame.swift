public import AlcedoCore

extension ImageProcessors {
    /// Processes every frame of an animation, each when it is asked for; still images as without it.
    ///
    /// For an app's own processors that work on one image at a time, such as a ``Closure``: the processors of this package
    /// process every frame anyway. The delays and the number of plays stay. Only the canvases of the source are kept: a
    /// frame that is asked for again is processed again. Rows have no frames.
    ///
    /// - Complexity: The processor's, once for the first frame and once for each frame that is asked for.
    public struct EveryFrame: FramewiseProcessing, HashableByIdentifier {
        /// Processes each frame. Frames of equal sizes must come out equally large.
        package let processor: any ImageProcessing

        package init(_ processor: any ImageProcessing) { self.processor = processor }

        public var identifier: String { "everyframe(\(processor.identifier))" }

        /// The target of the processor.
        public var decodingTarget: TargetSize? { processor.decodingTarget }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            try processor.process(image)
        }

        public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { processor.rows(into: next) }
    }
}

extension ImageProcessing where Self == ImageProcessors.EveryFrame {
    /// Processes every frame of an animation by an app's own processor. Frames of equal sizes must come out equally large.
    public static func everyFrame(_ processor: any ImageProcessing) -> Self { Self(processor) }
}
