public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Processes the image by an app's own function.
    ///
    /// The function may be called from any thread, several times at once, and may block. Its result is passed on
    /// unchanged, animation included.
    ///
    /// - Parameters:
    ///   - identifier: Names the function and every value that it captures, because caches tell results apart by it
    ///     alone. Two functions under one identifier are served each other's images.
    ///   - body: Returns the changed image.
    public static func closure(
        identifier: String, _ body: @escaping @Sendable (DecodedImage) throws(ImageProcessingError) -> DecodedImage
    ) -> Self {
        Self(ImageProcessors.Closure(identifier: identifier, body))
    }

    /// Processes every pixel by an app's own function, of whole images and of rows.
    ///
    /// Of an animation every frame is processed, when it is requested.
    ///
    /// - Parameters:
    ///   - identifier: Names the function and every value that it captures, as for `closure(identifier:_:)`.
    ///   - body: Changes red, green, blue and alpha from 0 to 1, color not multiplied by alpha. Samples outside that range
    ///     are cut off. Of a gray image the red of the result is kept, of an opaque one the color.
    /// - Complexity: O(*w* × *h*), one new buffer, or two rows.
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
