/// Conversions between whole numbers and floats that become vector instructions.
///
/// The standard library's own ones convert lane by lane out of line. A float of 2²³ + n has n in its low bits.
enum Lanes {
    /// Any values below 2²³, exactly.
    @inline(__always)
    static func floats(_ values: SIMD4<UInt32>) -> SIMD4<Float> {
        unsafeBitCast(values | 0x4B00_0000, to: SIMD4<Float>.self) - 8_388_608
    }

    /// Any values, exactly below 2²⁴ and rounded above.
    @inline(__always)
    static func wideFloats(_ values: SIMD4<UInt32>) -> SIMD4<Float> {
        floats(values &>> 16) * 65_536 + floats(values & 0xFFFF)
    }

    /// The nearest whole numbers, half to even, of values from 0 to 65535.
    @inline(__always)
    static func rounded(_ values: SIMD4<Float>) -> SIMD4<UInt32> {
        unsafeBitCast(values + 8_388_608, to: SIMD4<UInt32>.self) & 0x007F_FFFF
    }

    /// The nearest whole number, half to even, of a value from 0 to 65535.
    @inline(__always)
    static func rounded(_ value: Float) -> UInt32 { (value + 8_388_608).bitPattern & 0x007F_FFFF }

    /// Each lane at least 0 and at most that of `maximum`.
    @inline(__always)
    static func clamped(_ values: SIMD4<Float>, _ maximum: SIMD4<Float>) -> SIMD4<Float> {
        // Not a number is not above 0.
        let low = SIMD4<Float>(repeating: 0).replacing(with: values, where: values .> 0)
        return low.replacing(with: maximum, where: low .> maximum)
    }
}
