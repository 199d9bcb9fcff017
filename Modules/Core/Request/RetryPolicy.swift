public import AlcedoHTTP

/// Whether a failed request is sent again, and when: exponential backoff with full jitter.
///
/// ```swift
/// var request = ImageRequest(url: url)
/// request.retry = RetryPolicy(maximumAttempts: 5)
/// ```
///
/// Sources: RFC 9110 section 9.2.2 (what may be repeated); "Exponential Backoff and Jitter" of the AWS Architecture Blog.
public struct RetryPolicy: Sendable, Hashable {
    /// One attempt and no more.
    public static let never = RetryPolicy(maximumAttempts: 1)

    /// The maximum number of requests for one download, the first one included. Default: 3.
    public var maximumAttempts: Int
    /// The maximum delay before the second attempt, which doubles with each further one. Default: half a second.
    public var baseDelay: Duration
    /// The maximum delay of any attempt, unless the server names one. Default: 30 seconds.
    public var maximumDelay: Duration
    /// The maximum of a server's `Retry-After` field that is respected. A longer one counts as this. A random part of
    /// ``baseDelay`` is added. Default: 60 seconds.
    public var maximumRetryAfter: Duration
    /// Statuses after which another attempt may help. Default: 408, 425, 429, and 500 to 599 without 501 and 505, which
    /// say that the server cannot do it at all.
    public var statuses: Set<Int> = Set(500..<600).subtracting([501, 505]).union([408, 425, 429])
    /// Methods that may be repeated when the server may have seen the request. Default: the idempotent ones.
    public var repeatableMethods: Set<HTTPMethod> = HTTPMethod.idempotent

    /// Creates a policy. By default, three attempts are made; the delay grows from at most half a second to at most 30 seconds.
    public init(
        maximumAttempts: Int = 3,
        baseDelay: Duration = .milliseconds(500),
        maximumDelay: Duration = .seconds(30),
        maximumRetryAfter: Duration = .seconds(60)
    ) {
        self.maximumAttempts = max(1, maximumAttempts)
        self.baseDelay = max(.zero, baseDelay)
        self.maximumDelay = max(.zero, maximumDelay)
        self.maximumRetryAfter = max(.zero, maximumRetryAfter)
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
}

/// Why an attempt has failed, as far as it matters for another one. A cancellation is none of them.
package enum RetryCause: Sendable, Hashable {
    /// The server answered with this status, and perhaps said how long to wait.
    case status(Int, retryAfter: Duration?)
    /// The exchange failed.
    case transport(HTTPTransportError.Code)
}
