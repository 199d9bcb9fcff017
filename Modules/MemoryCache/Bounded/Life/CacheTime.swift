/// Time as entries keep it: in units of 2^28 attoseconds, about a quarter of a nanosecond, so that a look-up shifts where
/// it would else divide a number of 128 bits.
@usableFromInline
enum CacheTime {
    /// Clamped to what fits, 78 years, and below what stands for never.
    @inlinable
    static func units(_ duration: Duration) -> Int64 { min(Int64(clamping: duration.attoseconds >> 28), .max - 1) }
}
