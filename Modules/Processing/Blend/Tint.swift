public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Puts a color over the image, and leaves the image's alpha unchanged.
    ///
    /// `normal` with an opaque color gives every pixel that color, for icons; with a color that is half transparent a veil;
    /// `multiply` and `color` tint photographs. Works on every pixel format, on samples as they are stored; `gray8` becomes
    /// `rgbx8` unless the color is gray.
    ///
    /// - Parameters:
    ///   - color: Its alpha is the strength of the tint.
    ///   - mode: How the color is combined with those of the image. Default: it replaces them.
    /// - Complexity: O(*w* × *h*), one new buffer, or two rows.
    public static func tint(_ color: PixelColor, mode: ImageProcessors.BlendMode = .normal) -> Self {
        Self(ImageProcessors.Tint(color, mode: mode))
    }
}

extension ImageProcessors {
    /// The processor of `.tint(_:mode:)`.
    package struct Tint: PointProcessing {
        /// The colour that is put over the picture.
        package let color: PixelColor
        /// How it meets the picture's colours.
        package let mode: BlendMode

        package init(_ color: PixelColor, mode: BlendMode = .normal) {
            self.color = color
            self.mode = mode
        }

        package var identifier: String { "tint:\(color),\(mode.rawValue)" }

        /// Never throws.
        package func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation? {
            guard color.alpha > 0 else { return nil }
            let format = header.format == .gray8 && !color.isGray ? .rgbx8 : header.format
            let blending = Blending(mode: mode, keepsAlpha: true)
            let source = color.samples
            return PointOperation(on: header, format: format) { pixels, _ in
                guard let base = pixels.baseAddress else { return }
                withUnsafePointer(to: source) { blending.blend($0, step: 0, over: base, count: pixels.count) }
            }
        }
    }
}
