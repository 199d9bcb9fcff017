import AlcedoCore

private import CSampleKernels

/// A coding that reads and writes pixels of any format as red, green, blue and alpha from 0 to 1, with straight alpha.
///
/// Reading and then writing preserves every valid sample. Invalid premultiplied color, which exceeds its alpha, is
/// clamped to the alpha.
struct PixelCoding {
    let format: PixelFormat
    let alphaMode: AlphaMode

    /// Reads `count` pixels starting at `row`, which needs no alignment.
    func read(_ row: UnsafeRawPointer, _ count: Int, into out: UnsafeMutablePointer<SIMD4<Float>>) {
        switch (format, alphaMode) {
        case (.gray8, _):
            for x in 0..<count {
                let sample = Float(row.load(fromByteOffset: x, as: UInt8.self)) / 255
                out[x] = SIMD4(sample, sample, sample, 1)
            }
        case (.gray16, _):
            for x in 0..<count {
                let sample = Float(row.loadUnaligned(fromByteOffset: 2 &* x, as: UInt16.self)) / 65_535
                out[x] = SIMD4(sample, sample, sample, 1)
            }
        case (.rgba8, .premultiplied): Self.read(row, UInt8.self, count, out) { Self.divided($0) }
        case (.rgba16, .premultiplied): Self.read(row, UInt16.self, count, out) { Self.divided($0) }
        case (.rgba16, .straight): Self.read(row, UInt16.self, count, out) { $0 }
        // The alpha of opaque pixels is stored as the maximum, which is read as 1.
        case (.rgba8, .straight), (.rgba8, .opaque), (.rgbx8, _):
            alcedo_read_units(
                row.assumingMemoryBound(to: UInt8.self), count,
                UnsafeMutableRawPointer(out).assumingMemoryBound(to: Float.self))
        case (.rgba16, .opaque): Self.read(row, UInt16.self, count, out) { Self.opaque($0) }
        }
    }

    /// Writes `count` pixels starting at `row`. Samples outside 0 to 1 are clamped.
    func write(_ pixels: UnsafePointer<SIMD4<Float>>, _ count: Int, to row: UnsafeMutableRawPointer) {
        let floats = UnsafeRawPointer(pixels).assumingMemoryBound(to: Float.self)
        let bytes = row.assumingMemoryBound(to: UInt8.self)
        switch (format, alphaMode) {
        case (.gray8, _): alcedo_write_gray_units(floats, count, bytes)
        case (.gray16, _):
            for x in 0..<count {
                let sample = Lanes.rounded(max(0, min(1, pixels[x].x)) * 65_535)
                row.storeBytes(of: UInt16(truncatingIfNeeded: sample), toByteOffset: 2 &* x, as: UInt16.self)
            }
        case (.rgba8, .premultiplied): Self.write(pixels, UInt8.self, count, row) { Self.multiplied($0) }
        case (.rgba16, .premultiplied): Self.write(pixels, UInt16.self, count, row) { Self.multiplied($0) }
        case (.rgba8, .straight): alcedo_write_units(floats, count, 0, bytes)
        case (.rgba16, .straight): Self.write(pixels, UInt16.self, count, row) { $0 }
        case (.rgba8, .opaque), (.rgbx8, _): alcedo_write_units(floats, count, 1, bytes)
        case (.rgba16, .opaque): Self.write(pixels, UInt16.self, count, row) { Self.opaque($0) }
        }
    }

    @inline(__always)
    private static func read<Sample: FixedWidthInteger & SIMDScalar & BitwiseCopyable>(
        _ row: UnsafeRawPointer, _ type: Sample.Type, _ count: Int, _ out: UnsafeMutablePointer<SIMD4<Float>>,
        _ pixel: (SIMD4<Float>) -> SIMD4<Float>
    ) {
        let unit = 1 / Float(Sample.max)
        let size = MemoryLayout<SIMD4<Sample>>.size
        for x in 0..<count {
            let samples = row.loadUnaligned(fromByteOffset: x &* size, as: SIMD4<Sample>.self)
            out[x] = pixel(Lanes.floats(SIMD4<UInt32>(truncatingIfNeeded: samples)) * unit)
        }
    }

    @inline(__always)
    private static func write<Sample: FixedWidthInteger & SIMDScalar & BitwiseCopyable>(
        _ pixels: UnsafePointer<SIMD4<Float>>, _ type: Sample.Type, _ count: Int, _ row: UnsafeMutableRawPointer,
        _ pixel: (SIMD4<Float>) -> SIMD4<Float>
    ) {
        let maximum = Float(Sample.max)
        let size = MemoryLayout<SIMD4<Sample>>.size
        for x in 0..<count {
            let samples = pixel(Lanes.clamped(pixels[x], SIMD4(repeating: 1))) * maximum
            row.storeBytes(
                of: SIMD4<Sample>(truncatingIfNeeded: Lanes.rounded(samples)), toByteOffset: x &* size,
                as: SIMD4<Sample>.self)
        }
    }

    @inline(__always)
    private static func divided(_ pixel: SIMD4<Float>) -> SIMD4<Float> {
        guard pixel.w > 0 else { return SIMD4(repeating: 0) }
        // Invalid premultiplied pixels, whose color exceeds their alpha, are clamped.
        var color = Lanes.clamped(pixel / pixel.w, SIMD4(repeating: 1))
        color.w = pixel.w
        return color
    }

    @inline(__always)
    private static func multiplied(_ pixel: SIMD4<Float>) -> SIMD4<Float> {
        var color = pixel * pixel.w
        color.w = pixel.w
        return color
    }

    @inline(__always)
    private static func opaque(_ pixel: SIMD4<Float>) -> SIMD4<Float> {
        var pixel = pixel
        pixel.w = 1
        return pixel
    }
}
