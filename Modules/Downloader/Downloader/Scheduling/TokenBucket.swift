/// Lets so many pieces of work begin a second, and a number at once after a rest.
struct TokenBucket: Sendable {
    private let rate: Double
    private let burst: Double
    private var tokens: Double
    /// When `tokens` was right.
    private var time: Duration?

    init(_ limit: DownloadRate) {
        rate = max(limit.perSecond, .leastNormalMagnitude)
        burst = Double(max(1, limit.burst))
        tokens = burst
    }

    /// Takes a token; returns how long to wait for the next when there is none.
    ///
    /// - Parameter now: Never goes back.
    mutating func take(at now: Duration) -> Duration? {
        if let time { tokens = min(burst, tokens + max(0, (now - time) / .seconds(1)) * rate) }
        time = now
        guard tokens < 1 else {
            tokens -= 1
            return nil
        }
        // A little more than needed, so that the next look finds one.
        return .seconds(min((1 - tokens) / rate, 3_600)) + .microseconds(100)
    }
}
