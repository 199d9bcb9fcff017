public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Makes every pixel white or black, depending on its luminance.
    ///
    /// ```swift
    /// let request = ImageRequest(url: url, processors: [.threshold(160)])
    /// ```
    ///
    /// Pixels of at least the level become white. The luminance is that of `.grayscale`, which weights stored samples;
    /// sharp weights linear light. Opaque images become `gray8` or `gray16`; others keep their format. With
    /// `perChannel`, every sample of red, green and blue is compared on its own, and the format is kept. Alpha is kept,
    /// whereas sharp compares it, too. Works on every pixel format, with color not multiplied by alpha. Every frame of
    /// an animation is processed when it is requested. Processing throws `invalidParameter` for an invalid level, and
    /// `tooLarge` when there is no memory for the result.
    ///
    /// - Parameters:
    ///   - level: The smallest level that becomes white, in levels of 8 bits from 0 to 255. For 16-bit samples, the
    ///     level is multiplied by 257. Default: 128.
    ///   - perChannel: Whether channels are compared separately, which leaves eight colors, as in sharp with
    ///     `grayscale: false`. Default: `false`.
    /// - Complexity: O(*w* × *h*). Needs one new buffer for a whole image, and two rows of memory for arriving rows.
    public static func threshold(_ level: Int = 128, perChannel: Bool = false) -> Self {
        Self(ImageProcessors.Threshold(level, perChannel: perChannel))
    }
}

extension ImageProcessors {
    /// The processor of `.threshold(_:perChannel:)`.
    package struct Threshold: PointProcessing {
        private let level: Int
        private let perChannel: Bool

        package init(_ level: Int = 128, perChannel: Bool = false) {
            self.level = level
            self.perChannel = perChannel
        }

        package var identifier: String { "threshold:\(level)" + (perChannel ? ",channels" : "") }

        /// Returns the operation. Throws `invalidParameter` for an invalid level.
        package func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation? {
            guard (0...255).contains(level) else {
                throw ImageProcessingError(.invalidParameter, "invalid threshold: \(level)")
            }
            // Quotients of equal numbers are equal, in 8 and in 16 bits.
            let least = Double(level) / 255
            let curve = SampleCurve(header.format) { $0 >= least ? 1 : 0 }
            let isGray = perChannel || header.format.isGray
            return PointOperation(on: header, format: perChannel ? header.format : header.grayFormat) { pixels, _ in
                if !isGray, let base = pixels.baseAddress { ColorMatrix.gray.apply(to: base, count: pixels.count) }
                curve.apply(to: pixels)
            }
        }
    }
}
