import AlcedoCore
import AlcedoRuntime

/// A limit on retries in proportion to first attempts, which protects a failing server from overload.
///
/// ```swift
/// import AlcedoCore
/// import AlcedoDownloader
///
/// var configuration = DownloaderConfiguration()
/// configuration.retry = RetryPolicy(maximumAttempts: 3)
/// configuration.retryBudget = RetryBudget(share: 0.1, burst: 10)
/// ```
///
/// The budget is a token bucket. The first attempt of each request that may be retried adds `share` tokens, each second
/// adds `perSecond` tokens, and each retry takes one token. The first retry of a download always takes place, even
/// without a token, because a single failure often passes. Further retries need a token, so a download may end before
/// ``/AlcedoCore/RetryPolicy/maximumAttempts``.
///
/// When a server fails every request and the initial tokens are used up, each download is sent twice. Further retries
/// then add at most `share` of the load of the first attempts and `perSecond` requests a second. Use one budget for
/// each downloader, or share one among downloaders that use the same servers. Methods may be called from any thread.
public final class RetryBudget: Sendable {
    private struct State: Sendable {
        var tokens: Double
        /// The uptime at which `tokens` was computed.
        var time: Duration?
    }

    private let share: Double
    private let perSecond: Double
    private let burst: Double
    private let state: Locked<State>

    /// Creates a full budget.
    ///
    /// - Parameters:
    ///   - share: The number of retries that each first attempt allows. Default: 0.2.
    ///   - perSecond: The number of retries that each second allows, for clients with few requests. Default: 1.
    ///   - burst: The maximum number of retries that accumulate, and the initial number. With zero or less, only
    ///     first retries take place. Default: 20.
    public init(share: Double = 0.2, perSecond: Double = 1, burst: Int = 20) {
        self.share = share > 0 ? share : 0
        self.perSecond = perSecond > 0 ? perSecond : 0
        self.burst = Double(max(0, burst))
        state = Locked(State(tokens: self.burst))
    }

    /// Adds the tokens of a first attempt, up to the maximum.
    ///
    /// - Parameter now: The clock's uptime.
    func deposit(at now: Duration) {
        state.withLock { state in
            refill(&state, at: now)
            state.tokens = min(burst, state.tokens + share)
        }
    }

    /// Takes one token for a retry. Returns false if the budget has less than one token.
    ///
    /// - Parameter now: The clock's uptime.
    func withdraw(at now: Duration) -> Bool {
        state.withLock { state in
            refill(&state, at: now)
            // The tolerance compensates for rounding: five deposits of 0.2 may add up to slightly less than one.
            guard state.tokens >= 1 - 1e-9 else { return false }
            state.tokens = max(0, state.tokens - 1)
            return true
        }
    }

    private func refill(_ state: inout State, at now: Duration) {
        let passed = state.time.map { max(0, (now - $0) / .seconds(1)) } ?? 0
        state.tokens = min(burst, state.tokens + passed * perSecond)
        // Threads may arrive here in a different order than they read the clock.
        state.time = max(now, state.time ?? now)
    }
}
