public import AlcedoCore

extension ImageProcessors {
    /// Puts a colour over a picture where the picture is, and leaves its alpha alone.
    ///
    /// `normal` with an opaque colour gives every pixel that colour, for icons; with a colour that is half transparent
    /// a veil; `multiply` and `color` tint photographs. Works on every pixel format, on samples as they are stored;
    /// `gray8` becomes `rgbx8` unless the colour is gray.
    ///
    /// - Complexity: O(*w* × *h*), one new buffer, or two rows.
    public struct Tint: PointProcessing, Hashable {
        /// The colour that is put over the picture.
        package let color: PixelColor
        /// How it meets the picture's colours.
        package let mode: BlendMode

        package init(_ color: PixelColor, mode: BlendMode = .normal) {
            self.color = color
            self.mode = mode
        }

        public var identifier: String { "tint:\(color),\(mode.rawValue)" }

        /// Never throws.
        public func work(on header: PixelRowHeader) throws(ImageProcessingError) -> PointWork? {
            guard color.alpha > 0 else { return nil }
            let format = header.format == .gray8 && !color.isGray ? .rgbx8 : header.format
            let blending = Blending(mode: mode, keepsAlpha: true)
            let source = color.samples
            return PointWork(on: header, format: format) { pixels, _ in
                guard let base = pixels.baseAddress else { return }
                withUnsafePointer(to: source) { blending.blend($0, step: 0, over: base, count: pixels.count) }
            }
        }
    }
}

extension ImageProcessing where Self == ImageProcessors.Tint {
    /// Puts a color over the image, and leaves its alpha. The alpha of `color` is the strength of the tint.
    /// Default mode: the color covers those of the image.
    public static func tint(_ color: PixelColor, mode: ImageProcessors.BlendMode = .normal) -> Self {
        Self(color, mode: mode)
    }
}
