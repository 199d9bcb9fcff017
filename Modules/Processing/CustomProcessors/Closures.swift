public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Processes the image with an app's own function.
    ///
    /// ```swift
    /// let square: ImageProcessors.BuiltIn = .closure(identifier: "square") { image throws(ImageProcessingError) in
    ///     try ImageProcessors.BuiltIn.crop(aspect: PixelSize(width: 1, height: 1)).process(image)
    /// }
    /// ```
    ///
    /// The function may be called from any thread, several times at once, and may block. Its result is returned
    /// unchanged, including its animation. Rows are collected into a whole image.
    ///
    /// - Parameters:
    ///   - identifier: The name of the function, including every value that it captures. Caches distinguish results by
    ///     this name only: two functions with the same identifier receive each other's images.
    ///   - body: Returns the processed image. Processing throws the error of this function.
    public static func closure(
        identifier: String, _ body: @escaping @Sendable (DecodedImage) throws(ImageProcessingError) -> DecodedImage
    ) -> Self {
        Self(ImageProcessors.Closure(identifier: identifier, body))
    }

    /// Processes every pixel with an app's own function. Works on whole images and on rows.
    ///
    /// ```swift
    /// let inverted: ImageProcessors.BuiltIn = .pixelClosure(identifier: "inverted") { pixel in
    ///     SIMD4(1 - pixel.x, 1 - pixel.y, 1 - pixel.z, pixel.w)
    /// }
    /// ```
    ///
    /// Every frame of an animation is processed when it is requested. Processing throws `tooLarge` when there is no
    /// memory for the result.
    ///
    /// - Parameters:
    ///   - identifier: The name of the function, including every value that it captures, as for
    ///     `closure(identifier:_:)`.
    ///   - body: Returns the new red, green, blue and alpha of a pixel, from 0 to 1, with color not multiplied by
    ///     alpha. Samples outside that range are clamped. Gray images keep the red sample of the result; opaque images
    ///     ignore its alpha.
    /// - Complexity: O(*w* × *h*). Needs one new buffer for a whole image, and two rows of memory for arriving rows.
    public static func pixelClosure(
        identifier: String, _ body: @escaping @Sendable (_ pixel: SIMD4<Float>) -> SIMD4<Float>
    ) -> Self {
        Self(ImageProcessors.PixelClosure(identifier: identifier, body))
    }
}

extension ImageProcessors {
    /// The processor of `.closure(identifier:_:)`.
    package struct Closure: ImageProcessing {
        package typealias Body = @Sendable (DecodedImage) throws(ImageProcessingError) -> DecodedImage

        package let identifier: String
        private let body: Body

        package init(identifier: String, _ body: @escaping Body) {
            self.identifier = identifier
            self.body = body
        }

        package func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            try body(image)
        }
    }

    /// The processor of `.pixelClosure(identifier:_:)`.
    package struct PixelClosure: PointProcessing {
        package typealias Body = @Sendable (_ pixel: SIMD4<Float>) -> SIMD4<Float>

        package let identifier: String
        private let body: Body

        package init(identifier: String, _ body: @escaping Body) {
            self.identifier = identifier
            self.body = body
        }

        package func operation(on header: PixelRowHeader) -> PointOperation? {
            PointOperation(on: header) { [body] pixels, _ in
                for x in pixels.indices { pixels[x] = body(pixels[x]) }
            }
        }
    }
}
