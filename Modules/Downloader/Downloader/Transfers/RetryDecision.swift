import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// What to do after an attempt has failed.
enum RetryDecision: Sendable, Equatable {
    case giveUp
    case retry(after: Duration)
}

extension RetryPolicy {
    /// - Parameters:
    ///   - attempts: How many have failed.
    ///   - random: From 0 to 1; where in the span of the backoff the pause ends.
    func decide(after cause: RetryCause, method: HTTPMethod, attempts: Int, random: Double) -> RetryDecision {
        guard attempts < maximumAttempts, mayRepeat(method, after: cause) else { return .giveUp }
        // No number counts as none.
        let jitter = random > 0 ? min(random, 1) : 0
        guard case .status(_, let wait?) = cause else { return .retry(after: longestPause(after: attempts) * jitter) }
        // All who were sent away at once come back at the same time unless they add something of their own.
        return .retry(after: Self.sensible(min(wait, maximumRetryAfter)) + longestPause(after: 1) * jitter)
    }

    private func longestPause(after attempts: Int) -> Duration {
        let maximum = Self.sensible(maximumDelay)
        var pause = min(Self.sensible(baseDelay), maximum)
        var doublings = max(0, attempts - 1)
        while doublings > 0, pause > .zero, pause < maximum {
            pause = min(pause * 2, maximum)
            doublings -= 1
        }
        return pause
    }

    /// Within a span that can be reckoned with: up to a year.
    private static func sensible(_ duration: Duration) -> Duration {
        min(max(.zero, duration), .seconds(365 * 86_400))
    }
}

/// How long a server asks to be left alone. Source: RFC 9110 section 10.2.3.
enum RetryAfter {
    /// Nil when the server does not say, or nothing that makes sense; a date that has passed is no time.
    static func delay(in fields: HTTPFields, now: Date) -> Duration? {
        let lines = fields.values(of: "Retry-After")
        // The same thing said twice, as some proxies do, is said once.
        guard let line = lines.first, lines.allSatisfy({ $0 == line }) else { return nil }
        if case .value(let seconds) = DeltaSeconds(line) { return .seconds(seconds) }
        guard let date = HTTPDate.parse(line, now: now) else { return nil }
        return .seconds(min(max(0, date.timeIntervalSince(now)), Double(DeltaSeconds.limit)))
    }
}
