/// The blend formulas that treat a colour as a whole; fourth lanes do not matter.
///
/// Source: W3C, Compositing and Blending Level 1, §9.2.
enum NonSeparableBlend {
    @inline(__always)
    static func hue(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        color(luminosity(of: backdrop), in: saturated(source, as: saturation(of: backdrop)))
    }

    @inline(__always)
    static func saturation(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        color(luminosity(of: backdrop), in: saturated(backdrop, as: saturation(of: source)))
    }

    @inline(__always)
    static func color(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        color(luminosity(of: backdrop), in: source)
    }

    @inline(__always)
    static func luminosity(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        color(luminosity(of: source), in: backdrop)
    }

    /// The specification's Lum.
    @inline(__always)
    private static func luminosity(of color: SIMD4<Float>) -> Float {
        0.3 * color.x + 0.59 * color.y + 0.11 * color.z
    }

    /// The specification's Sat.
    @inline(__always)
    private static func saturation(of color: SIMD4<Float>) -> Float {
        max(color.x, color.y, color.z) - min(color.x, color.y, color.z)
    }

    /// The specification's SetSat: its smallest sample becomes 0, its largest the saturation.
    @inline(__always)
    private static func saturated(_ color: SIMD4<Float>, as saturation: Float) -> SIMD4<Float> {
        let low = min(color.x, color.y, color.z)
        let range = max(color.x, color.y, color.z) - low
        return range > 0 ? (color - low) * (saturation / range) : SIMD4(repeating: 0)
    }

    /// The specification's SetLum with ClipColor.
    @inline(__always)
    private static func color(_ wanted: Float, in color: SIMD4<Float>) -> SIMD4<Float> {
        var result = color + (wanted - luminosity(of: color))
        let light = luminosity(of: result)
        let low = min(result.x, result.y, result.z)
        let high = max(result.x, result.y, result.z)
        if low < 0 { result = light + (result - light) * (light / (light - low)) }
        if high > 1 { result = light + (result - light) * ((1 - light) / (high - light)) }
        return result
    }
}
