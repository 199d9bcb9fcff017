/// The compositing operator *over* with an opaque background, on one pixel whose samples have `bits` bits, 8 or 16.
///
/// Results are exact, rounded to nearest, and opaque.
///
/// Source: Porter and Duff, "Compositing Digital Images", SIGGRAPH 1984.
enum Over {
    /// Puts a pixel of straight alpha on `background`.
    @inline(__always)
    static func straight(
        _ pixel: SIMD4<UInt32>, _ background: SIMD4<UInt32>, _ bits: UInt32
    ) -> SIMD4<UInt32> {
        let maximum = (1 &<< bits) &- 1
        var result = divided(pixel &* pixel.w &+ background &* (maximum &- pixel.w), bits)
        result.w = maximum
        return result
    }

    /// Puts a pixel of premultiplied alpha on `background`.
    @inline(__always)
    static func premultiplied(
        _ pixel: SIMD4<UInt32>, _ background: SIMD4<UInt32>, _ bits: UInt32
    ) -> SIMD4<UInt32> {
        let maximum = (1 &<< bits) &- 1
        // Colour above its alpha, which no premultiplied pixel has, must not wrap around.
        let colour = pixel.replacing(with: pixel.w, where: pixel .> pixel.w)
        var result = colour &+ divided(background &* (maximum &- pixel.w), bits)
        result.w = maximum
        return result
    }

    /// `products / (2^bits - 1)`, rounded to nearest, for products of two samples; the sums fit 32 bits.
    ///
    /// Source: Blinn, "Three Wrongs Make a Right", IEEE CG&A 15 (1995).
    @inline(__always)
    private static func divided(_ products: SIMD4<UInt32>, _ bits: UInt32) -> SIMD4<UInt32> {
        let shifted = products &+ (1 &<< (bits &- 1))
        return (shifted &+ shifted &>> bits) &>> bits
    }
}
