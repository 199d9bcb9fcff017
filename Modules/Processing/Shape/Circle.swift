public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Cuts the largest circle out of the middle of the image, for avatars, and draws a border along it.
    ///
    /// The result is square, as wide as the image's shorter side; otherwise as that of `roundedCorners(_:border:)`.
    ///
    /// - Parameter border: The line along the edge, inside it. Default: none.
    /// - Complexity: O(pixels of the result), two new buffers, or three rows.
    public static func circle(border: ImageProcessors.Border? = nil) -> Self {
        Self(ImageProcessors.Circle(border: border))
    }
}

extension ImageProcessors {
    /// The processor of `.circle(border:)`.
    package struct Circle: FramewiseProcessing {
        /// The line along the edge; nil for none.
        package let border: Border?
        private let square = Crop(aspect: PixelSize(width: 1, height: 1))
        private var corners: RoundedCorners { RoundedCorners(CornerRadii(0.5, unit: .shorterSide), border: border) }

        package init(border: Border? = nil) { self.border = border }

        package var identifier: String { "circle\(border.map { ":border:\($0.identifier)" } ?? "")" }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            try corners.process(try square.process(image))
        }

        package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer {
            square.rows(into: corners.rows(into: next))
        }
    }
}
