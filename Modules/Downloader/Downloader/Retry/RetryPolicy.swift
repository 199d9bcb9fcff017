import AlcedoCore
public import AlcedoHTTP
import FoundationEssentials

/// Whether a failed request is sent again, and when: exponential backoff with full jitter.
///
/// Sources: RFC 9110 section 9.2.2 (what may be repeated); "Exponential Backoff and Jitter" of the AWS Architecture Blog.
public struct RetryPolicy: Sendable, Hashable {
    /// One attempt and no more.
    public static let never = RetryPolicy(maximumAttempts: 1)

    /// Most requests for one download, the first one included. Default: 3.
    public var maximumAttempts: Int
    /// The longest pause before the second attempt; it doubles with each further one. Default: half a second.
    public var base: Duration
    /// The longest pause where the server names none. Default: 30 seconds.
    public var cap: Duration
    /// The longest time that a server's `Retry-After` is waited for; a longer one counts as this. Up to the first
    /// pause is added. Default: 60 seconds.
    public var retryAfterCap: Duration
    /// Statuses after which another attempt may help. Default: 408, 425, 429, and 500 to 599 without 501 and 505, which
    /// say that the server cannot do it at all.
    public var statuses: Set<Int> = Set(500..<600).subtracting([501, 505]).union([408, 425, 429])
    /// Methods that may be repeated when the server may have seen the request. Default: the idempotent ones.
    public var repeatableMethods: Set<HTTPMethod> = HTTPMethod.idempotent

    /// By default three attempts; pauses grow from half a second at most to 30 seconds at most.
    public init(
        maximumAttempts: Int = 3,
        base: Duration = .milliseconds(500),
        cap: Duration = .seconds(30),
        retryAfterCap: Duration = .seconds(60)
    ) {
        self.maximumAttempts = max(1, maximumAttempts)
        self.base = max(.zero, base)
        self.cap = max(.zero, cap)
        self.retryAfterCap = max(.zero, retryAfterCap)
    }

    /// Whether the same request may be sent once more after this, the number of attempts aside.
    package func mayRepeat(_ method: HTTPMethod, after cause: RetryCause) -> Bool {
        switch cause {
        case .status(let status, _): statuses.contains(status) && repeatableMethods.contains(method)
        // The server has not seen the request, whatever it asks for.
        case .transport(.cannotResolveHost), .transport(.cannotConnect): true
        case .transport(.timedOut), .transport(.connectionLost): repeatableMethods.contains(method)
        // The same would come out again, or nobody is there to ask.
        case .transport: false
        }
    }

    /// - Parameters:
    ///   - attempts: How many have failed.
    ///   - random: From 0 to 1; where in the span of the backoff the pause ends.
    func decide(after cause: RetryCause, method: HTTPMethod, attempts: Int, random: Double) -> RetryDecision {
        guard attempts < maximumAttempts, mayRepeat(method, after: cause) else { return .giveUp }
        // No number counts as none.
        let jitter = random > 0 ? min(random, 1) : 0
        guard case .status(_, let wait?) = cause else { return .retry(after: longestPause(after: attempts) * jitter) }
        // All who were sent away at once come back at the same time unless they add something of their own.
        return .retry(after: Self.sensible(min(wait, retryAfterCap)) + longestPause(after: 1) * jitter)
    }

    private func longestPause(after attempts: Int) -> Duration {
        let cap = Self.sensible(cap)
        var pause = min(Self.sensible(base), cap)
        var doublings = max(0, attempts - 1)
        while doublings > 0, pause > .zero, pause < cap {
            pause = min(pause * 2, cap)
            doublings -= 1
        }
        return pause
    }

    /// Within a span that can be reckoned with: up to a year.
    private static func sensible(_ duration: Duration) -> Duration {
        min(max(.zero, duration), .seconds(365 * 86_400))
    }
}

/// Why an attempt has failed, as far as it matters for another one. A cancellation is none of them.
package enum RetryCause: Sendable, Hashable {
    /// The server answered with this status, and perhaps said how long to wait.
    case status(Int, retryAfter: Duration?)
    /// The exchange failed.
    case transport(HTTPTransportError.Code)
}

/// What to do after an attempt has failed.
enum RetryDecision: Sendable, Equatable {
    case giveUp
    case retry(after: Duration)
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
