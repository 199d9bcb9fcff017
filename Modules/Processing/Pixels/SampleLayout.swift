import AlcedoCore

private import CSampleKernels

/// The layouts of a buffer's samples that the kernels distinguish.
///
/// The kernels represent an image as rows of floats from 0 to ``maximum``, with color multiplied by alpha, so that
/// color hidden under transparent pixels has no weight.
enum SampleLayout {
    case gray8
    case gray16
    /// Four 8-bit samples, opaque or premultiplied.
    case color8
    /// Four 8-bit samples, straight alpha.
    case straight8
    /// Four 16-bit samples, opaque or premultiplied.
    case color16
    /// Four 16-bit samples, straight alpha.
    case straight16

    init(_ format: PixelFormat, _ alphaMode: AlphaMode) {
        let straight = alphaMode == .straight
        self =
            switch format {
            case .gray8: .gray8
            case .gray16: .gray16
            case .rgbx8: .color8
            case .rgba8: straight ? .straight8 : .color8
            case .rgba16: straight ? .straight16 : .color16
            }
    }

    /// The number of floats per pixel.
    var channels: Int { self == .gray8 || self == .gray16 ? 1 : 4 }

    /// The largest value of a sample.
    var maximum: Float {
        switch self {
        case .gray8, .color8, .straight8: 255
        case .gray16, .color16, .straight16: 65_535
        }
    }

    /// Returns the number of floats for a row of `width` pixels, a multiple of 16, which is the step of the vector
    /// loops.
    func floatsPerRow(_ width: Int) -> Int { Self.floatsPerRow(width, channels: channels) }

    /// Returns the number of floats for a row of `width` pixels with `channels` floats each.
    static func floatsPerRow(_ width: Int, channels: Int) -> Int { (width * channels + 15) / 16 * 16 }
}

/// Conversions of the samples of one row to floats, with color multiplied by alpha.
enum RowReader {
    /// Converts `width` pixels of `row` to floats in `out`.
    static func read(
        _ row: UnsafeRawPointer, width: Int, layout: SampleLayout, into out: UnsafeMutablePointer<Float>
    ) {
        switch layout {
        case .gray8: readGray(row, width, UInt8.self, out)
        case .gray16: readGray(row, width, UInt16.self, out)
        case .color8: alcedo_read_bytes(row.assumingMemoryBound(to: UInt8.self), width, out)
        case .straight8: alcedo_read_straight_bytes(row.assumingMemoryBound(to: UInt8.self), width, out)
        case .color16: read(row, width, out) { color16($0, $1) }
        case .straight16: read(row, width, out) { multiplied(color16($0, $1)) }
        }
    }

    @inline(__always)
    private static func readGray<Sample: FixedWidthInteger & BitwiseCopyable>(
        _ row: UnsafeRawPointer, _ width: Int, _ type: Sample.Type, _ out: UnsafeMutablePointer<Float>
    ) {
        for x in 0..<width {
            out[x] = Float(row.loadUnaligned(fromByteOffset: x &* MemoryLayout<Sample>.size, as: type))
        }
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
        let samples = row.loadUnaligned(fromByteOffset: x &* 8, as: SIMD4<UInt16>.self)
        return Lanes.floats(SIMD4<UInt32>(truncatingIfNeeded: samples))
    }

    @inline(__always)
    private static func multiplied(_ pixel: SIMD4<Float>) -> SIMD4<Float> {
        var factor = SIMD4<Float>(repeating: pixel.w)
        factor.w = 65_535
        return pixel * factor / 65_535
    }
}

/// Conversions of rows of floats to samples: divided by alpha for straight layouts, clamped, rounded to nearest.
enum RowWriter {
    /// Converts `width` pixels of floats to samples in `out`.
    static func write(
        _ row: UnsafePointer<Float>, width: Int, layout: SampleLayout, to out: UnsafeMutableRawPointer
    ) {
        switch layout {
        case .gray8: writeGray(row, width, UInt8.self, out)
        case .gray16: writeGray(row, width, UInt16.self, out)
        case .color8: alcedo_write_bytes(row, width, out.assumingMemoryBound(to: UInt8.self))
        case .straight8: write(row, width, UInt8.self, out) { straight($0, maximum: 255) }
        case .color16: write(row, width, UInt16.self, out) { premultiplied($0, maximum: 65_535) }
        case .straight16: write(row, width, UInt16.self, out) { straight($0, maximum: 65_535) }
        }
    }

    @inline(__always)
    private static func writeGray<Sample: FixedWidthInteger & BitwiseCopyable>(
        _ row: UnsafePointer<Float>, _ width: Int, _ type: Sample.Type, _ out: UnsafeMutableRawPointer
    ) {
        let maximum = Float(Sample.max)
        for x in 0..<width {
            let sample = Lanes.rounded(max(0, min(maximum, row[x])))
            out.storeBytes(
                of: Sample(truncatingIfNeeded: sample), toByteOffset: x &* MemoryLayout<Sample>.size, as: type)
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

    /// Limits color to alpha, the maximum in a premultiplied pixel. Filters with negative weights can exceed it.
    @inline(__always)
    private static func premultiplied(_ pixel: SIMD4<Float>, maximum: Float) -> SIMD4<Float> {
        let alpha = max(0, min(maximum, pixel.w))
        return Lanes.clamped(pixel, SIMD4(repeating: alpha))
    }

    @inline(__always)
    private static func straight(_ pixel: SIMD4<Float>, maximum: Float) -> SIMD4<Float> {
        let alpha = min(maximum, pixel.w)
        // The alpha rounds to zero, and color cannot be divided by it.
        guard alpha > 0.5 else { return SIMD4(repeating: 0) }
        var values = pixel * (maximum / alpha)
        values.w = alpha
        return Lanes.clamped(values, SIMD4(repeating: maximum))
    }
}
