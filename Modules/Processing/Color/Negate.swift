public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Inverts the color of every pixel, as in a photographic negative: white becomes black.
    ///
    /// ```swift
    /// let request = ImageRequest(url: url, processors: [.negate()])
    /// ```
    ///
    /// Works on every pixel format and on stored samples, with color not multiplied by alpha. The format is kept. Every
    /// frame of an animation is processed when it is requested. Processing throws `tooLarge` when there is no memory
    /// for the result.
    ///
    /// - Parameter includesAlpha: Whether alpha is inverted as well, as in sharp by default: transparent pixels become
    ///   opaque. Images without transparency stay opaque. Default: `false`.
    /// - Complexity: O(*w* × *h*). Needs one new buffer for a whole image, and two rows of memory for arriving rows.
    public static func negate(includesAlpha: Bool = false) -> Self {
        Self(ImageProcessors.Negate(includesAlpha: includesAlpha))
    }
}

extension ImageProcessors {
    /// The processor of `.negate(includesAlpha:)`.
    package struct Negate: PointProcessing {
        private let includesAlpha: Bool

        package init(includesAlpha: Bool = false) { self.includesAlpha = includesAlpha }

        package var identifier: String { includesAlpha ? "negate:alpha" : "negate" }

        /// Returns the operation. Never throws.
        package func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation? {
            let includesAlpha = includesAlpha
            return PointOperation(on: header) { pixels, _ in
                for x in pixels.indices {
                    let pixel = pixels[x]
                    pixels[x] = 1 - pixel
                    if !includesAlpha { pixels[x].w = pixel.w }
                }
            }
        }
    }
}
