/// Turns the samples of one row into floats of linear light, colour multiplied by alpha, and back.
///
/// The floats are from 0 to the layout's maximum, as those of ``RowReader`` and ``RowWriter`` are, which do the part of
/// the work that is the same.
enum LinearRow {
    /// Reads `width` pixels of `row` and writes as many pixels of floats to `out`.
    static func read(
        _ row: UnsafeRawPointer, width: Int, layout: SampleLayout, into out: UnsafeMutablePointer<Float>
    ) {
        RowReader.read(row, width: width, layout: layout, into: out)
        change(out, width, layout, LinearLight.decoding)
    }

    /// Reads `width` pixels of floats, which it changes, and writes as many pixels of samples to `out`.
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
