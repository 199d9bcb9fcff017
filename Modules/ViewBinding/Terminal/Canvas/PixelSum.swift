import AlcedoCore

/// Adds up pixels of 8-bit samples, each weighted with its alpha. 64 bits hold the sum of 2⁴⁸ pixels.
struct PixelSum: Sendable {
    /// Red, green and blue times alpha, and alpha times 255, so that all four have one scale.
    private var sum = SIMD4<UInt64>()
    private var count: UInt64 = 0

    /// - Parameter pixel: Red, green, blue, alpha, each at most 255.
    mutating func add(_ pixel: SIMD4<UInt64>, _ mode: AlphaMode) {
        count += 1
        switch mode {
        case .opaque:
            sum &+= SIMD4(pixel.x, pixel.y, pixel.z, 255) &* 255
        case .straight:
            let alpha = pixel.w
            sum &+= SIMD4(pixel.x, pixel.y, pixel.z, 255) &* alpha
        case .premultiplied:
            // A sample above alpha, which no premultiplied pixel has, counts as alpha.
            sum &+= pointwiseMin(pixel, SIMD4(repeating: pixel.w)) &* 255
        }
    }

    /// The mean of the pixels laid over `background`; the background itself when there are none.
    func average(over background: OpaqueColor) -> OpaqueColor {
        let whole = count * 255
        guard whole > 0 else { return background }
        let transparent = whole - sum.w / 255
        let mix = { (sum: UInt64, behind: UInt8) in
            UInt8(truncatingIfNeeded: (sum + UInt64(behind) * transparent + whole / 2) / whole)
        }
        return OpaqueColor(
            red: mix(sum.x, background.red), green: mix(sum.y, background.green), blue: mix(sum.z, background.blue))
    }
}
