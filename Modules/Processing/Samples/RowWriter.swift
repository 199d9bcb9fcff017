private import CSampleKernels

/// Turns rows of floats back into samples: clamped, rounded to nearest, divided by alpha where the layout is straight.
enum RowWriter {
    /// Reads `width` pixels of floats and writes as many pixels of samples to `out`.
    static func write(
        _ row: UnsafePointer<Float>, width: Int, layout: SampleLayout, to out: UnsafeMutableRawPointer
    ) {
        switch layout {
        case .gray8: writeGray8(row, width, out)
        case .color8: alcedo_write_bytes(row, width, out.assumingMemoryBound(to: UInt8.self))
        case .straight8: write(row, width, UInt8.self, out) { straight($0, maximum: 255) }
        case .color16: write(row, width, UInt16.self, out) { premultiplied($0, maximum: 65_535) }
        case .straight16: write(row, width, UInt16.self, out) { straight($0, maximum: 65_535) }
        }
    }

    private static func writeGray8(_ row: UnsafePointer<Float>, _ width: Int, _ out: UnsafeMutableRawPointer) {
        for x in 0..<width {
            let sample = Lanes.rounded(max(0, min(255, row[x])))
            out.storeBytes(of: UInt8(truncatingIfNeeded: sample), toByteOffset: x, as: UInt8.self)
        }
    }

    @inline(__always)
    private static func write<Sample: FixedWidthInteger & SIMDScalar & BitwiseCopyable>(
        _ row: UnsafePointer<Float>, _ width: Int, _ type: Sample.Type, _ out: UnsafeMutableRawPointer,
        _ pixel: (SIMD4<Float>) -> SIMD4<Float>
    ) {
        let source = UnsafeRawPointer(row)
        for x in 0..<width {
            let values = pixel(source.load(fromByteOffset: x &* 16, as: SIMD4<Float>.self))
            let samples = SIMD4<Sample>(truncatingIfNeeded: Lanes.rounded(values))
            out.storeBytes(
                of: samples, toByteOffset: x &* MemoryLayout<SIMD4<Sample>>.size, as: SIMD4<Sample>.self)
        }
    }

    /// Filters with negative weights overshoot, and no colour of a premultiplied pixel is above its alpha.
    @inline(__always)
    private static func premultiplied(_ pixel: SIMD4<Float>, maximum: Float) -> SIMD4<Float> {
        let alpha = max(0, min(maximum, pixel.w))
        return Lanes.clamped(pixel, SIMD4(repeating: alpha))
    }

    @inline(__always)
    private static func straight(_ pixel: SIMD4<Float>, maximum: Float) -> SIMD4<Float> {
        let alpha = min(maximum, pixel.w)
        // Alpha rounds to nought, and there is no colour to divide out.
        guard alpha > 0.5 else { return SIMD4(repeating: 0) }
        var values = pixel * (maximum / alpha)
        values.w = alpha
        return Lanes.clamped(values, SIMD4(repeating: maximum))
    }
}
