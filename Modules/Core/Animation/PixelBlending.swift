/// Laying one straight pixel over another.
enum PixelBlending {
    /// Blends rows of equal length. Opaque pixels replace, transparent ones change nothing.
    @inline(__always)
    static func drawOver(
        _ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer,
        _ blend: (_ source: SIMD4<UInt32>, _ target: SIMD4<UInt32>) -> SIMD4<UInt32>
    ) {
        guard let from = source.baseAddress, let to = target.baseAddress else { return }
        for offset in stride(from: 0, to: source.count, by: 4) {
            let pixel = from.load(fromByteOffset: offset, as: SIMD4<UInt8>.self)
            if pixel.w == 255 {
                to.storeBytes(of: pixel, toByteOffset: offset, as: SIMD4<UInt8>.self)
            } else if pixel.w > 0 {
                let below = to.load(fromByteOffset: offset, as: SIMD4<UInt8>.self)
                let result = blend(SIMD4(truncatingIfNeeded: pixel), SIMD4(truncatingIfNeeded: below))
                to.storeBytes(of: SIMD4<UInt8>(truncatingIfNeeded: result), toByteOffset: offset, as: SIMD4<UInt8>.self)
            }
        }
    }

    /// Exact, rounded to nearest.
    static func over(_ source: SIMD4<UInt32>, _ target: SIMD4<UInt32>) -> SIMD4<UInt32> {
        let above = source.w &* 255
        let below = target.w &* (255 &- source.w)
        let alpha = above &+ below
        guard alpha > 0 else { return SIMD4(repeating: 0) }
        let color = source &* above &+ target &* below &+ SIMD4(repeating: alpha / 2)
        return SIMD4(color.x / alpha, color.y / alpha, color.z / alpha, (alpha &+ 127) / 255)
    }

    /// Source: libwebp's `BlendPixelNonPremult`, of `src/demux/anim_decode.c`.
    static func overAsLibwebp(_ source: SIMD4<UInt32>, _ target: SIMD4<UInt32>) -> SIMD4<UInt32> {
        let below = (target.w &* (256 &- source.w)) &>> 8
        let alpha = source.w &+ below
        guard alpha > 0 else { return SIMD4(repeating: 0) }
        let scale = (UInt32(1) &<< 24) / alpha
        var result = ((source &* source.w &+ target &* below) &* scale) &>> 24
        result.w = alpha
        return result
    }
}
