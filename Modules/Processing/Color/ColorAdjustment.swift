public import AlcedoCore

private import CSampleKernels

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Changes brightness, contrast and saturation, in this order.
    ///
    /// Works on every pixel format, on samples as they are stored, as CSS filters do: brightness multiplies them, contrast
    /// multiplies their distance from the middle, saturation their distance from the gray of the same luminance. Samples are
    /// cut off once, at the end. Format and alpha stay.
    ///
    /// Source: W3C, Filter Effects Module Level 1, §9.
    ///
    /// - Parameters:
    ///   - brightness: A factor from 0, which makes all black. Default: 1, no change.
    ///   - contrast: A factor from 0, which makes all middle gray. Default: 1, no change.
    ///   - saturation: A factor from 0, which makes all gray. Default: 1, no change. Processing throws `invalidParameter` for
    ///     a factor that is negative or not finite.
    /// - Complexity: O(*w* × *h*), one new buffer, or two rows.
    public static func adjust(brightness: Double = 1, contrast: Double = 1, saturation: Double = 1) -> Self {
        Self(ImageProcessors.ColorAdjustment(brightness: brightness, contrast: contrast, saturation: saturation))
    }

    /// Makes every pixel the gray of its luminance.
    ///
    /// Works on every pixel format, on samples as they are stored. Opaque images of 8 bits become `gray8`, which takes a
    /// quarter of the memory; others keep their format, with equal red, green and blue. Alpha stays.
    ///
    /// - Complexity: O(*w* × *h*), one new buffer, or two rows.
    public static var grayscale: Self { Self(ImageProcessors.Grayscale()) }
}

extension ImageProcessors {
    /// The processor of `.adjust(brightness:contrast:saturation:)`.
    package struct ColorAdjustment: PointProcessing {
        /// What every colour sample is multiplied by.
        package let brightness: Double
        /// What every sample's distance from the middle is multiplied by.
        package let contrast: Double
        /// What every sample's distance from the pixel's gray is multiplied by.
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
                    throw ImageProcessingError(.invalidParameter, "a \(name) of \(value) makes no sense")
                }
            }
            guard (brightness, contrast, saturation) != (1, 1, 1) else { return nil }
            // Beyond a million everything is at its end anyway, and products of three stay finite.
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

        /// Never throws.
        package func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation? {
            let format: PixelFormat
            switch (header.format, header.alphaMode) {
            case (.gray8, _): return nil
            case (.rgbx8, _), (.rgba8, .opaque): format = .gray8
            case (.rgba8, _), (.rgba16, _): format = header.format
            }
            return PointOperation(on: header, format: format, alphaMode: header.alphaMode) { pixels, _ in
                guard let base = pixels.baseAddress else { return }
                ColorMatrix.gray.apply(to: base, count: pixels.count)
            }
        }
    }
}

/// A linear change of colour with an offset, on samples from 0 to 1.
struct ColorMatrix {
    /// What each sample of the pixel adds to the result's red, green and blue.
    private let red: SIMD4<Float>
    private let green: SIMD4<Float>
    private let blue: SIMD4<Float>
    private let offset: SIMD4<Float>

    /// The weights of red, green and blue in what looks bright: those of sRGB's primaries, which are Rec. 709's.
    static let luminance = SIMD4<Float>(0.2126, 0.7152, 0.0722, 0)

    /// Every pixel's gray of the same luminance.
    static let gray = ColorMatrix(brightness: 1, contrast: 1, saturation: 0)

    /// Scales colour's distance from `gray`, then from black, and its distance from its own gray.
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
        // Saturation leaves gray as it is, so the offset of contrast passes through it.
        offset = SIMD4<Float>(1, 1, 1, 0) * ((1 - contrast) / 2)
    }

    /// Changes `count` pixels, and leaves their alpha.
    func apply(to pixels: UnsafeMutablePointer<SIMD4<Float>>, count: Int) {
        withUnsafeBytes(of: self) { columns in
            guard let columns = columns.baseAddress else { return }
            alcedo_apply_matrix(
                columns.assumingMemoryBound(to: Float.self),
                UnsafeMutableRawPointer(pixels).assumingMemoryBound(to: Float.self), count)
        }
    }
}
