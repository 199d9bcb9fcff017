public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Cuts the largest centered circle out of the image, for avatars, and draws an optional border.
    ///
    /// The result is a square with the length of the image's shorter side. Otherwise behaves like
    /// `roundedCorners(_:border:)`.
    ///
    /// - Parameter border: A line along the inside of the edge, or `nil` for no border. Default: `nil`.
    /// - Complexity: O(pixels of the result). Needs two new buffers for a whole image, and three rows of memory for
    ///   arriving rows.
    public static func circle(border: ImageProcessors.Border? = nil) -> Self {
        Self(ImageProcessors.Circle(border: border))
    }
}

extension ImageProcessors {
    /// The processor of `.circle(border:)`.
    package struct Circle: FramewiseProcessing {
        /// The line along the inside of the edge, or `nil` for no border.
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
