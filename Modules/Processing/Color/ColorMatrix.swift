private import CSampleKernels

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
