public import AlcedoCore

extension ImageProcessors {
    /// Mirrors an image.
    ///
    /// Works on every pixel format and keeps it. Directions are those of the rows in memory, that is before
    /// ``DecodedImage/orientation``; put ``Orient`` in front where they differ.
    ///
    /// - Complexity: O(*w* × *h*), one new buffer. Rows are mirrored one by one when left and right change places, and
    ///   collected when top and bottom do.
    public struct Flip: FramewiseProcessing, Hashable {
        /// What changes places.
        public enum Axis: String, Sendable, Hashable, CaseIterable {
            /// Left and right change places.
            case leftAndRight
            /// Top and bottom change places.
            case topAndBottom
        }

        private let axis: Axis

        package init(_ axis: Axis) { self.axis = axis }

        public var identifier: String { "flip:\(axis.rawValue)" }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            try image.turned(from: axis == .leftAndRight ? .upMirrored : .downMirrored)
        }

        public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer {
            switch axis {
            case .leftAndRight: RowMirror(next: next)
            case .topAndBottom: WholePictureStage(next: next) { try process($0) }
            }
        }
    }
}

extension ImageProcessing where Self == ImageProcessors.Flip {
    /// Mirrors the image, so that the sides of `axis` change places.
    public static func flip(_ axis: ImageProcessors.Flip.Axis) -> Self { Self(axis) }
}
