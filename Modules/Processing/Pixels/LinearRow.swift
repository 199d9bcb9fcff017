import AlcedoLibc

/// Conversions between the samples of one row and floats in linear light, with color multiplied by alpha.
///
/// The floats range from 0 to the layout's maximum, as in ``RowReader`` and ``RowWriter``, which do the conversion of
/// samples to floats and back.
enum LinearRow {
    /// Converts `width` pixels of `row` to floats in `out`.
    static func read(
        _ row: UnsafeRawPointer, width: Int, layout: SampleLayout, into out: UnsafeMutablePointer<Float>
    ) {
        RowReader.read(row, width: width, layout: layout, into: out)
        change(out, width, layout, LinearLight.decoding)
    }

    /// Converts `width` pixels of floats to samples in `out`. Overwrites the floats.
    static func write(
        _ row: UnsafeMutablePointer<Float>, width: Int, layout: SampleLayout, to out: UnsafeMutableRawPointer
    ) {
        change(row, width, layout, LinearLight.encoding)
        RowWriter.write(row, width: width, layout: layout, to: out)
    }

    private static func change(
        _ row: UnsafeMutablePointer<Float>, _ width: Int, _ layout: SampleLayout, _ curve: LinearLight
    ) {
        let maximum = layout.maximum
        guard layout.channels == 4 else {
            for x in 0..<width { row[x] = curve.at(row[x] / maximum) * maximum }
            return
        }
        let pixels = UnsafeMutableRawPointer(row)
        for x in 0..<width {
            let pixel = pixels.load(fromByteOffset: x &* 16, as: SIMD4<Float>.self)
            let alpha = max(0, min(maximum, pixel.w))
            var changed = SIMD4<Float>(repeating: 0)
            if alpha > 0 {
                changed = curve.color(pixel / alpha) * alpha
                changed.w = pixel.w
            }
            pixels.storeBytes(of: changed, toByteOffset: x &* 16, as: SIMD4<Float>.self)
        }
    }
}

/// One direction of the sRGB transfer function, as a table with linear interpolation.
///
/// Values range from 0 to 1. The error is below a quarter of a 16-bit level.
///
/// Source: IEC 61966-2-1.
private struct LinearLight: Sendable {
    /// The conversion from samples to light.
    static let decoding = LinearLight(entries: 1 << 12) { sample in
        sample <= 0.04045 ? sample / 12.92 : pow((sample + 0.055) / 1.055, 2.4)
    }

    /// The conversion from light to samples. It is steep near black and needs more entries.
    static let encoding = LinearLight(entries: 1 << 14) { light in
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    private let table: [Float]
    private let last: Float

    private init(entries: Int, _ curve: (Double) -> Double) {
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
