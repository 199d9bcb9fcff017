/// The arithmetic of alpha on one unsigned sample of 8 or 16 bits, exact and rounded to nearest.
///
/// Source: Porter and Duff, "Compositing Digital Images", SIGGRAPH 1984 (premultiplied colour, the operator *over*).
enum AlphaArithmetic<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & SIMDScalar> {
    // The largest sum below, 65535 * 65535 + 32767, fits 32 bits.
    private static var maximum: UInt32 { UInt32(truncatingIfNeeded: Sample.max) }

    @inline(__always)
    private static func divided(_ product: UInt32) -> Sample {
        Sample(truncatingIfNeeded: (product &+ maximum / 2) / maximum)
    }

    /// Straight `colour` over an opaque one.
    @inline(__always)
    static func over(_ colour: Sample, _ alpha: Sample, _ background: Sample) -> Sample {
        let front = UInt32(truncatingIfNeeded: colour) &* UInt32(truncatingIfNeeded: alpha)
        let back = UInt32(truncatingIfNeeded: background) &* UInt32(truncatingIfNeeded: Sample.max &- alpha)
        return divided(front &+ back)
    }

    /// Premultiplied `colour` over an opaque one.
    @inline(__always)
    static func overPremultiplied(_ colour: Sample, _ alpha: Sample, _ background: Sample) -> Sample {
        // Colour above its alpha, which no premultiplied pixel has, must not wrap around.
        min(colour, alpha) &+ over(0, alpha, background)
    }
}
