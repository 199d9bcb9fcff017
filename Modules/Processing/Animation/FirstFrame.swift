public import AlcedoCore

extension ImageProcessors {
    /// Gives the first frame of an animation as a still image; still images stay as they are.
    ///
    /// - Complexity: O(1).
    public struct FirstFrame: ImageProcessing, Hashable {
        package init() {}

        public var identifier: String { "firstframe" }

        /// Never throws.
        public func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            image.still(image.pixels)
        }

        public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { next }
    }
}

extension ImageProcessing where Self == ImageProcessors.FirstFrame {
    /// Keeps the first frame of an animation as a still image.
    public static var firstFrame: Self { Self() }
}
