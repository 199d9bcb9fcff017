#if HEIF
    /// The time that libde265 may take for one image. Its tiles and its alpha share it. The time in which a consumer
    /// takes rows does not count.
    final class DecodingTime {
        let limit: Duration
        /// The number of nanoseconds that are left.
        var rest: UInt64

        init(_ limit: Duration) {
            self.limit = limit
            let (seconds, attoseconds) = limit.components
            // Products of longer times, of more than 30 years, would overflow.
            let wholeSeconds = min(UInt64(clamping: seconds), 1 << 30)
            rest = wholeSeconds * 1_000_000_000 + UInt64(clamping: attoseconds / 1_000_000_000)
        }
    }
#endif
