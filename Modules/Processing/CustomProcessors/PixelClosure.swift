public import AlcedoCore

extension ImageProcessors {
    /// Changes every pixel by an app's own function, on whole pictures and on rows.
    ///
    /// Of an animation every frame is processed, when it is asked for.
    ///
    /// - Complexity: O(*w* × *h*), one new buffer, or two rows.
    public struct PixelClosure: PointProcessing, HashableByIdentifier {
        package typealias Body = @Sendable (_ pixel: SIMD4<Float>) -> SIMD4<Float>

        public let identifier: String
        private let body: Body

        package init(identifier: String, _ body: @escaping Body) {
            self.identifier = identifier
            self.body = body
        }

        public func work(on header: PixelRowHeader) -> PointWork? {
            PointWork(on: header) { [body] pixels, _ in
                for x in pixels.indices { pixels[x] = body(pixels[x]) }
            }
        }
    }
}

extension ImageProcessing where Self == ImageProcessors.PixelClosure {
    /// Processes every pixel by an app's own function.
    ///
    /// - Parameters:
    ///   - identifier: Names the function and every value that it captures, as for `closure(identifier:_:)`.
    ///   - body: Changes red, green, blue and alpha from 0 to 1, color not multiplied by alpha. Samples outside that range
    ///     are cut off. Of a gray image the red of the result is kept, of an opaque one the color.
    public static func pixelClosure(
        identifier: String, _ body: @escaping @Sendable (_ pixel: SIMD4<Float>) -> SIMD4<Float>
    ) -> Self {
        Self(identifier: identifier, body)
    }
}
