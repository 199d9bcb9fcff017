public import AlcedoCore

import AlcedoLibc

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Brightens or darkens the middle tones: raises every sample from 0 to 1 to the power of 1 / `exponent`.
    ///
    /// ```swift
    /// let request = ImageRequest(url: url, processors: [.gamma(1.4)])
    /// ```
    ///
    /// Black and white do not change. The same as `gamma` in libvips and ImageMagick. sharp darkens by its exponent
    /// before a resize and brightens by it afterwards, which is `[.gamma(1 / 2.2), .resize(width: 320), .gamma(2.2)]`;
    /// a resize in linear light does this exactly (``ResizeSampling``).
    ///
    /// Works on every pixel format and on stored samples, with color not multiplied by alpha. The format and alpha are
    /// kept. Every frame of an animation is processed when it is requested. Processing throws `invalidParameter` for an
    /// invalid exponent, and `tooLarge` when there is no memory for the result.
    ///
    /// - Parameter exponent: The exponent, from 0.000001 to 1,000. Values above 1 brighten, values below 1 darken, and
    ///   1 changes nothing. Default: 2.2.
    /// - Complexity: O(*w* × *h*). Needs one new buffer for a whole image, two rows of memory for arriving rows, and a
    ///   table of up to 256 KiB.
    public static func gamma(_ exponent: Double = 2.2) -> Self { Self(ImageProcessors.Gamma(exponent)) }
}

extension ImageProcessors {
    /// The processor of `.gamma(_:)`.
    package struct Gamma: PointProcessing {
        private let exponent: Double

        package init(_ exponent: Double = 2.2) { self.exponent = exponent }

        package var identifier: String { "gamma:\(exponent)" }

        /// Returns the operation, or `nil` for an exponent of 1. Throws `invalidParameter` for an invalid exponent.
        package func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation? {
            guard (1e-6...1000).contains(exponent) else {
                throw ImageProcessingError(.invalidParameter, "invalid gamma: \(exponent)")
            }
            guard exponent != 1 else { return nil }
            let curve = SampleCurve(header.format) { pow($0, 1 / exponent) }
            return PointOperation(on: header) { pixels, _ in curve.apply(to: pixels) }
        }
    }
}
