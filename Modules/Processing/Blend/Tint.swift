public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Draws a color over the image and keeps the image's alpha.
    ///
    /// With the mode `normal`, an opaque color replaces the color of every pixel, as for icons, and a translucent color
    /// veils the image. `multiply` and `color` tint photographs. Works on every pixel format, on stored samples.
    /// `gray8` becomes `rgbx8` unless the color is gray. Processing throws `tooLarge` when there is no memory for the
    /// result.
    ///
    /// - Parameters:
    ///   - color: The color. Its alpha is the strength of the tint. With an alpha of 0, the image does not change.
    ///   - mode: The formula that combines the color with the colors of the image. Default: `.normal`, which replaces
    ///     them.
    /// - Complexity: O(*w* × *h*). Needs one new buffer for a whole image, and two rows of memory for arriving rows.
    public static func tint(_ color: PixelColor, mode: ImageProcessors.BlendMode = .normal) -> Self {
        Self(ImageProcessors.Tint(color, mode: mode))
    }
}

extension ImageProcessors {
    /// The processor of `.tint(_:mode:)`.
    package struct Tint: PointProcessing {
        /// The color that is drawn over the image.
        package let color: PixelColor
        /// The formula that combines the color with the colors of the image.
        package let mode: BlendMode

        package init(_ color: PixelColor, mode: BlendMode = .normal) {
            self.color = color
            self.mode = mode
        }

        package var identifier: String { "tint:\(color),\(mode.rawValue)" }

        /// Returns the operation, or `nil` when the color is transparent. Never throws.
        package func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation? {
            guard color.alpha > 0 else { return nil }
            let format = header.format.isGray && !color.isGray ? header.format.opaqueColored : header.format
            let blending = Blending(mode: mode, compositing: nil)
            let source = color.samples
            return PointOperation(on: header, format: format) { pixels, _ in
                guard let base = pixels.baseAddress else { return }
                withUnsafePointer(to: source) { blending.blend($0, step: 0, over: base, count: pixels.count) }
            }
        }
    }
}
