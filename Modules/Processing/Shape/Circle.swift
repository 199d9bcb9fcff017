public import AlcedoCore

extension ImageProcessors {
    /// Cuts the largest circle out of the middle of an image, for avatars, and draws a border along it.
    ///
    /// The result is square, as wide as the image's shorter side; otherwise it is as that of ``RoundedCorners``.
    ///
    /// - Complexity: O(pixels of the result), two new buffers, or three rows.
    public struct Circle: FramewiseProcessing, Hashable {
        /// The line along the edge; nil for none.
        package let border: Border?
        private let square = Crop(aspect: PixelSize(width: 1, height: 1))
        private var corners: RoundedCorners { RoundedCorners(CornerRadii(0.5, unit: .shorterSide), border: border) }

        package init(border: Border? = nil) { self.border = border }

        public var identifier: String { "circle\(border.map { ":border:\($0.identifier)" } ?? "")" }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            try corners.process(try square.process(image))
        }

        public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer {
            square.rows(into: corners.rows(into: next))
        }
    }
}

extension ImageProcessing where Self == ImageProcessors.Circle {
    /// Cuts the largest circle out of the middle of the image. Default: without a border.
    public static func circle(border: ImageProcessors.Border? = nil) -> Self { Self(border: border) }
}
