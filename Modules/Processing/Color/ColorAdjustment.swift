public import AlcedoCore

private import CSampleKernels

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Changes brightness, contrast and saturation, in this order.
    ///
    /// ```swift
    /// let request = ImageRequest(url: url, processors: [.adjust(brightness: 1.1, saturation: 0.8)])
    /// ```
    ///
    /// Works on every pixel format and on stored samples, like CSS filters. Brightness multiplies the samples, contrast
    /// multiplies their distance from middle gray, and saturation multiplies their distance from the gray of the same
    /// luminance. Samples are clamped once, at the end. The format and alpha are kept. Processing throws
    /// `invalidParameter` when a factor is negative or not finite, and `tooLarge` when there is no memory for the
    /// result.
    ///
    /// Source: W3C, Filter Effects Module Level 1, §9.
    ///
    /// - Parameters:
    ///   - brightness: A factor from 0, which makes the image black. Default: 1, no change.
    ///   - contrast: A factor from 0, which makes the image middle gray. Default: 1, no change.
    ///   - saturation: A factor from 0, which makes the image gray. Default: 1, no change.
    /// - Complexity: O(*w* × *h*). Needs one new buffer for a whole image, and two rows of memory for arriving rows.
    public static func adjust(brightness: Double = 1, contrast: Double = 1, saturation: Double = 1) -> Self {
        Self(ImageProcessors.ColorAdjustment(brightness: brightness, contrast: contrast, saturation: saturation))
    }

    /// Converts every pixel to the gray of its luminance.
    ///
    /// Works on every pixel format and on stored samples. Opaque images become `gray8` or `gray16`, which take a
    /// quarter of the memory. Other images keep their format, with equal red, green and blue. Alpha is kept. Processing
    /// throws `tooLarge` when there is no memory for the result.
    ///
    /// - Complexity: O(*w* × *h*). Needs one new buffer for a whole image, and two rows of memory for arriving rows.
    public static var grayscale: Self { Self(ImageProcessors.Grayscale()) }
}

extension ImageProcessors {
    /// The processor of `.adjust(brightness:contrast:saturation:)`.
    package struct ColorAdjustment: PointProcessing {
        /// The factor of every color sample.
        package let brightness: Double
        /// The factor of every sample's distance from middle gray.
        package let contrast: Double
        /// The factor of every sample's distance from the gray of the same luminance as its pixel.
        package let saturation: Double

        package init(brightness: Double = 1, contrast: Double = 1, saturation: Double = 1) {
            self.brightness = brightness
            self.contrast = contrast
            self.saturation = saturation
        }

        package var identifier: String { "color:\(brightness),\(contrast),\(saturation)" }

        package func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation? {
            for (name, value) in [("brightness", brightness), ("contrast", contrast), ("saturation", saturation)] {
                guard value.isFinite, value >= 0 else {
                    throw ImageProcessingError(.invalidParameter, "invalid \(name): \(value)")
                }
            }
            guard (brightness, contrast, saturation) != (1, 1, 1) else { return nil }
            // Above a million, every result is at a limit anyway. The cap keeps products of three factors finite.
            let factors = [brightness, contrast, saturation].map { Float(min($0, 1e6)) }
            let matrix = ColorMatrix(brightness: factors[0], contrast: factors[1], saturation: factors[2])
            return PointOperation(on: header) { pixels, _ in
                guard let base = pixels.baseAddress else { return }
                matrix.apply(to: base, count: pixels.count)
            }
        }
    }

    /// The processor of `.grayscale`.
    package struct Grayscale: PointProcessing {
        package init() {}

        package var identifier: String { "blackandwhite" }

        /// Returns the operation, or `nil` for gray images. Never throws.
        package func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation? {
            guard !header.format.isGray else { return nil }
            return PointOperation(on: header, format: header.grayFormat) { pixels, _ in
                guard let base = pixels.baseAddress else { return }
                ColorMatrix.gray.apply(to: base, count: pixels.count)
            }
        }
    }
}

extension PixelRowHeader {
    /// The format of gray pixels with the same alpha, of as many bits.
    var grayFormat: PixelFormat {
        switch (format, alphaMode) {
        case (.gray8, _), (.rgbx8, _), (.rgba8, .opaque): .gray8
        case (.gray16, _), (.rgba16, .opaque): .gray16
        case (.rgba8, _), (.rgba16, _): format
        }
    }
}

/// A linear transformation of color with an offset, on samples from 0 to 1.
struct ColorMatrix {
    /// The factors by which the pixel's red contributes to the red, green and blue of the result. `green` and `blue`
    /// hold the factors of the pixel's green and blue.
    private let red: SIMD4<Float>
    private let green: SIMD4<Float>
    private let blue: SIMD4<Float>
    private let offset: SIMD4<Float>

    /// The weights of red, green and blue in the luminance. sRGB has the primaries of Rec. 709.
    static let luminance = SIMD4<Float>(0.2126, 0.7152, 0.0722, 0)

    /// The matrix that converts every pixel to the gray of the same luminance.
    static let gray = ColorMatrix(brightness: 1, contrast: 1, saturation: 0)

    /// Creates a matrix that scales the distance of colors from black, then from middle gray, then from their own gray.
    ///
    /// Source: W3C, Filter Effects Module Level 1, §9.5 and §9.6; saturation with the luminance weights above.
    init(brightness: Float, contrast: Float, saturation: Float) {
        let scale = brightness * contrast
        let axes = [SIMD4<Float>(1, 0, 0, 0), SIMD4<Float>(0, 1, 0, 0), SIMD4<Float>(0, 0, 1, 0)]
        let columns = (0..<3).map { channel in
            let gray = SIMD4<Float>(1, 1, 1, 0) * Self.luminance[channel]
            return (gray + (axes[channel] - gray) * saturation) * scale
        }
        red = columns[0]
        green = columns[1]
        blue = columns[2]
        // The offset of contrast is gray, and saturation does not change gray. The offset is therefore the same before
        // and after saturation.
        offset = SIMD4<Float>(1, 1, 1, 0) * ((1 - contrast) / 2)
    }

    /// Changes the color of `count` pixels and keeps their alpha.
    func apply(to pixels: UnsafeMutablePointer<SIMD4<Float>>, count: Int) {
        withUnsafeBytes(of: self) { columns in
            guard let columns = columns.baseAddress else { return }
            alcedo_apply_matrix(
                columns.assumingMemoryBound(to: Float.self),
                UnsafeMutableRawPointer(pixels).assumingMemoryBound(to: Float.self), count)
        }
    }
}
