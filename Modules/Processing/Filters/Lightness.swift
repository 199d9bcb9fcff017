import AlcedoLibc

/// The lightness L* of sRGB pixels, from 0 to 100.
///
/// Source: CIE 015:2018, §8.2.1.
enum Lightness {
    /// The cube root of CIELAB, with its linear part near black. The lightness is exact to 0.001.
    private static let root = CurveTable(entries: 1 << 12) { light in
        light > 216.0 / 24_389 ? cbrt(light) : (24_389 / 27 * light + 16) / 116
    }

    /// Returns the lightness of a pixel with straight color.
    static func of(_ pixel: SIMD4<Float>) -> Float {
        let light = CurveTable.decoding.color(pixel) * ColorMatrix.luminance
        return 116 * root.at(light.x + light.y + light.z) - 16
    }

    /// Returns the pixel with another lightness. Red, green and blue keep their ratios in linear light, except where
    /// they exceed their maximum. `lightness` is the present one, and above zero.
    static func changed(_ pixel: SIMD4<Float>, from lightness: Float, to result: Float) -> SIMD4<Float> {
        let light = CurveTable.decoding.color(pixel) * (luminance(result) / luminance(lightness))
        var changed = CurveTable.encoding.color(light)
        changed.w = pixel.w
        return changed
    }

    private static func luminance(_ lightness: Float) -> Float {
        let root = (lightness + 16) / 116
        return lightness > 8 ? root * root * root : lightness * (27.0 / 24_389)
    }
}
