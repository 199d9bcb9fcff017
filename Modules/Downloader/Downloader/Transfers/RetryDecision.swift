import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// The decision after a failed attempt.
enum RetryDecision: Sendable, Equatable {
    case giveUp
    case retry(after: Duration)
}

extension RetryPolicy {
    /// Returns whether a request is sent again after a failure, and after which pause.
    ///
    /// - Parameters:
    ///   - cause: The failure.
    ///   - method: The method of the request.
    ///   - attempts: The number of failed attempts.
    ///   - random: A number from 0 to 1 by which the backoff is multiplied.
    func decide(after cause: RetryCause, method: HTTPMethod, attempts: Int, random: Double) -> RetryDecision {
        guard attempts < maximumAttempts, mayRepeat(method, after: cause) else { return .giveUp }
        // This also turns NaN into zero.
        let jitter = random > 0 ? min(random, 1) : 0
        guard case .status(_, let wait?) = cause else { return .retry(after: longestPause(after: attempts) * jitter) }
        // Clients that received the same `Retry-After` would all return at the same time without jitter.
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

    /// Limits a duration to between zero and a year, so that arithmetic cannot overflow.
    private static func sensible(_ duration: Duration) -> Duration {
        min(max(.zero, duration), .seconds(365 * 86_400))
    }
}

/// The delay that a server requests before a retry. Source: RFC 9110 section 10.2.3.
enum RetryAfter {
    /// Returns the requested delay; nil if the field is missing, invalid, or repeated with different values. A date in
    /// the past is a delay of zero.
    static func delay(in fields: HTTPFields, now: Date) -> Duration? {
        let lines = fields.values(of: "Retry-After")
        // Some proxies repeat the field. Equal lines count as one.
        guard let line = lines.first, lines.allSatisfy({ $0 == line }) else { return nil }
        if case .value(let seconds) = DeltaSeconds(line) { return .seconds(seconds) }
        guard let date = HTTPDate.parse(line, now: now) else { return nil }
        return .seconds(min(max(0, date.timeIntervalSince(now)), Double(DeltaSeconds.limit)))
    }
}

/// The wait of a retry for the network.
struct NetworkWait: Sendable {
    let monitor: any NetworkMonitoring
    let url: URL
    /// The maximum time.
    let limit: Duration
    let clock: any TimeSource

    /// Waits, and returns whether the network is available. Returns false after the maximum time, and if the monitor
    /// fails.
    ///
    /// - Throws: `CancellationError` if the task is canceled.
    func run() async throws -> Bool {
        let deadline = Deadline(limit: limit, clock: clock, subject: "no network for \(url.shown)")
        do {
            try await deadline.run { [monitor, url] in try await monitor.waitUntilOnline(for: url) }
            return true
        } catch {
            try Task.checkCancellation()
            return false
        }
    }
}
