import AlcedoCore
import AlcedoRuntime

/// Bounds retries by the work that goes well or ill for the first time, so that a server in trouble is not buried.
///
/// A bucket of tokens: each first attempt puts in a part of one, time a little more, and each retry takes a whole one.
/// While a server answers nothing, the load on it is at most the usual one and `share` of it. One for each downloader, or
/// one for several that ask the same servers. Calls may come from any thread.
public final class RetryBudget: Sendable {
    private struct State: Sendable {
        var tokens: Double
        /// When `tokens` was right.
        var time: Duration?
    }

    private let share: Double
    private let perSecond: Double
    private let burst: Double
    private let state: Locked<State>

    /// - Parameters:
    ///   - share: Retries for each first attempt. Default: 0.2.
    ///   - perSecond: Retries a second that are free, for those who ask seldom. Default: 1.
    ///   - burst: Most retries that can be saved up; there are so many at the beginning. Default: 20.
    public init(share: Double = 0.2, perSecond: Double = 1, burst: Int = 20) {
        self.share = share > 0 ? share : 0
        self.perSecond = perSecond > 0 ? perSecond : 0
        self.burst = Double(max(0, burst))
        state = Locked(State(tokens: self.burst))
    }

    /// Counts a first attempt.
    ///
    /// - Parameter now: Uptime.
    func deposit(at now: Duration) {
        state.withLock { state in
            refill(&state, at: now)
            state.tokens = min(burst, state.tokens + share)
        }
    }

    /// Takes what a retry costs; false when there is not enough, and nothing was taken.
    ///
    /// - Parameter now: Uptime.
    func withdraw(at now: Duration) -> Bool {
        state.withLock { state in
            refill(&state, at: now)
            // Five times a fifth is a little less than one.
            guard state.tokens >= 1 - 1e-9 else { return false }
            state.tokens = max(0, state.tokens - 1)
            return true
        }
    }

    private func refill(_ state: inout State, at now: Duration) {
        let passed = state.time.map { max(0, (now - $0) / .seconds(1)) } ?? 0
        state.tokens = min(burst, state.tokens + passed * perSecond)
        // Two threads may have read the clock in the other order than they come here.
        state.time = max(now, state.time ?? now)
    }
}
