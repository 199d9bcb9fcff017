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
        change(out, width, layout, CurveTable.decoding)
    }

    /// Converts `width` pixels of floats to samples in `out`. Overwrites the floats.
    static func write(
        _ row: UnsafeMutablePointer<Float>, width: Int, layout: SampleLayout, to out: UnsafeMutableRawPointer
    ) {
        change(row, width, layout, CurveTable.encoding)
        RowWriter.write(row, width: width, layout: layout, to: out)
    }

    private static func change(
        _ row: UnsafeMutablePointer<Float>, _ width: Int, _ layout: SampleLayout, _ curve: CurveTable
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
