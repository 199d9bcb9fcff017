private import CSampleKernels

/// Turns the samples of one row into floats, colour multiplied by alpha.
enum RowReader {
    /// Reads `width` pixels of `row` and writes as many pixels of floats to `out`.
    static func read(
        _ row: UnsafeRawPointer, width: Int, layout: SampleLayout, into out: UnsafeMutablePointer<Float>
    ) {
        switch layout {
        case .gray8: readGray8(row, width, out)
        case .color8: alcedo_read_bytes(row.assumingMemoryBound(to: UInt8.self), width, out)
        case .straight8: alcedo_read_straight_bytes(row.assumingMemoryBound(to: UInt8.self), width, out)
        case .color16: read(row, width, out) { color16($0, $1) }
        case .straight16: read(row, width, out) { multiplied(color16($0, $1)) }
        }
    }

    private static func readGray8(_ row: UnsafeRawPointer, _ width: Int, _ out: UnsafeMutablePointer<Float>) {
        for x in 0..<width { out[x] = Float(row.load(fromByteOffset: x, as: UInt8.self)) }
    }

    @inline(__always)
    private static func read(
        _ row: UnsafeRawPointer, _ width: Int, _ out: UnsafeMutablePointer<Float>,
        _ pixel: (UnsafeRawPointer, Int) -> SIMD4<Float>
    ) {
        let target = UnsafeMutableRawPointer(out)
        for x in 0..<width {
            target.storeBytes(of: pixel(row, x), toByteOffset: x &* 16, as: SIMD4<Float>.self)
        }
    }

    @inline(__always)
    static func color16(_ row: UnsafeRawPointer, _ x: Int) -> SIMD4<Float> {
        let samples = row.load(fromByteOffset: x &* 8, as: SIMD4<UInt16>.self)
        return Lanes.floats(SIMD4<UInt32>(truncatingIfNeeded: samples))
    }

    @inline(__always)
    private static func multiplied(_ pixel: SIMD4<Float>) -> SIMD4<Float> {
        var factor = SIMD4<Float>(repeating: pixel.w)
        factor.w = 65_535
        return pixel * factor / 65_535
    }
}
