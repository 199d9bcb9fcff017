/// A linear change of colour with an offset, on samples from 0 to 1.
struct ColorMatrix {
    /// What each sample of the pixel adds to the result's red, green and blue.
    private var red: SIMD4<Float>
    private var green: SIMD4<Float>
    private var blue: SIMD4<Float>
    private var offset: SIMD4<Float>

    /// The weights of red, green and blue in what looks bright: those of sRGB's primaries, which are Rec. 709's.
    static let luminance = SIMD4<Float>(0.2126, 0.7152, 0.0722, 0)

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

    @inline(__always)
    func apply(to pixel: SIMD4<Float>) -> SIMD4<Float> {
        var color = red * pixel.x + green * pixel.y + blue * pixel.z + offset
        color.w = pixel.w
        return color
    }
}
