public import AlcedoCore

extension ImageProcessors {
    /// Makes every pixel the gray of its luminance.
    ///
    /// Works on every pixel format, on samples as they are stored. Opaque images of 8 bits become `gray8`, which takes
    /// a quarter of the memory; others keep their format, with equal red, green and blue. Alpha stays.
    ///
    /// - Complexity: O(*w* × *h*), one new buffer, or two rows.
    public struct Grayscale: PointProcessing, Hashable {
        package init() {}

        public var identifier: String { "blackandwhite" }

        /// Never throws.
        public func work(on header: PixelRowHeader) throws(ImageProcessingError) -> PointWork? {
            let format: PixelFormat
            switch (header.format, header.alphaMode) {
            case (.gray8, _): return nil
            case (.rgbx8, _), (.rgba8, .opaque): format = .gray8
            case (.rgba8, _), (.rgba16, _): format = header.format
            }
            return PointWork(on: header, format: format, alphaMode: header.alphaMode) { pixels, _ in
                guard let base = pixels.baseAddress else { return }
                ColorMatrix.gray.apply(to: base, count: pixels.count)
            }
        }
    }
}

extension ImageProcessing where Self == ImageProcessors.Grayscale {
    /// Makes every pixel the gray of its luminance.
    public static var grayscale: Self { Self() }
}
