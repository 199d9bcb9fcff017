import AlcedoLibc

/// A function from 0...1 to 0...1, as a table with linear interpolation.
struct CurveTable: Sendable {
    /// The sRGB transfer function from samples to light. The error is below a quarter of a 16-bit level.
    ///
    /// Source: IEC 61966-2-1.
    static let decoding = CurveTable(entries: 1 << 12) { sample in
        sample <= 0.04045 ? sample / 12.92 : pow((sample + 0.055) / 1.055, 2.4)
    }

    /// The sRGB transfer function from light to samples. It is steep near black and needs more entries. The error is
    /// below a quarter of a 16-bit level.
    static let encoding = CurveTable(entries: 1 << 14) { light in
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    private let table: [Float]
    private let last: Float

    init(entries: Int, _ curve: (Double) -> Double) {
        // An extra entry, so that the position 1 has a next entry.
        table = (0...entries + 1).map { Float(min(1, curve(Double($0) / Double(entries)))) }
        last = Float(entries)
    }

    /// Returns the values of the function for the first three lanes, which are clamped to 0 to 1. The fourth lane is
    /// kept.
    @inline(__always)
    func color(_ values: SIMD4<Float>) -> SIMD4<Float> {
        SIMD4(at(values.x), at(values.y), at(values.z), values.w)
    }

    @inline(__always)
    func at(_ value: Float) -> Float {
        // Comparisons with NaN are false, so that NaN becomes 0.
        let position = value > 0 ? min(value, 1) * last : 0
        let index = Int(position)
        let low = table[index]
        return low + (table[index + 1] - low) * (position - Float(index))
    }
}
