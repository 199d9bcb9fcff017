/// Conversions between integers and floats that compile to vector instructions.
///
/// The conversions of the standard library work lane by lane and are not inlined. A float of 2²³ + n contains n in its
/// low bits.
enum Lanes {
    /// Converts values below 2²³ exactly.
    @inline(__always)
    static func floats(_ values: SIMD4<UInt32>) -> SIMD4<Float> {
        unsafeBitCast(values | 0x4B00_0000, to: SIMD4<Float>.self) - 8_388_608
    }

    /// Returns the nearest integers to values from 0 to 65,535. Halves round to even.
    @inline(__always)
    static func rounded(_ values: SIMD4<Float>) -> SIMD4<UInt32> {
        unsafeBitCast(values + 8_388_608, to: SIMD4<UInt32>.self) & 0x007F_FFFF
    }

    /// Returns the nearest integer to a value from 0 to 65,535. Halves round to even.
    @inline(__always)
    static func rounded(_ value: Float) -> UInt32 { (value + 8_388_608).bitPattern & 0x007F_FFFF }

    /// Returns the values with each lane limited to the range from 0 to the lane of `maximum`.
    @inline(__always)
    static func clamped(_ values: SIMD4<Float>, _ maximum: SIMD4<Float>) -> SIMD4<Float> {
        // NaN is not greater than 0 and becomes 0.
        let low = SIMD4<Float>(repeating: 0).replacing(with: values, where: values .> 0)
        return low.replacing(with: maximum, where: low .> maximum)
    }
}
