public import AlcedoHTTP

/// A policy for repeating failed requests: exponential backoff with full jitter.
///
/// ```swift
/// var request = ImageRequest(url: url)
/// request.retry = RetryPolicy(maximumAttempts: 5)
/// ```
///
/// Sources: RFC 9110 section 9.2.2 (idempotent methods); "Exponential Backoff and Jitter" of the AWS Architecture Blog.
public struct RetryPolicy: Sendable, Hashable {
    /// A policy of one attempt without retries.
    public static let never = RetryPolicy(maximumAttempts: 1)

    /// The maximum number of attempts for one download, including the first. While many downloads fail, the
    /// downloader's `DownloaderConfiguration.retryBudget` may end a download after two attempts. Default: 3.
    public var maximumAttempts: Int
    /// The maximum delay before the second attempt. It doubles with each further attempt. Default: half a second.
    public var baseDelay: Duration
    /// The maximum delay before any attempt, unless the server specifies one. Default: 30 seconds.
    public var maximumDelay: Duration
    /// The maximum delay accepted from a server's `Retry-After` field. Larger values are reduced to it. A random part
    /// of ``baseDelay`` is added. Default: 60 seconds.
    public var maximumRetryAfter: Duration
    /// The maximum time for which a retry waits for the network, after the delay. Zero does not wait. Default: zero.
    ///
    /// ```swift
    /// request.retry = RetryPolicy(maximumNetworkWait: .seconds(30))
    /// ```
    ///
    /// After an attempt without a response, the next one begins when the downloader's monitor
    /// (`DownloaderConfiguration.networkMonitor`) reports that the network is available, which is at once if it is. If
    /// the time passes first, the download fails with the error of its last attempt. With more than zero, a request
    /// that failed because the machine is offline is repeated, too; otherwise, such a request fails immediately.
    public var maximumNetworkWait: Duration
    /// The status codes after which a request is repeated. Default: 408, 425, 429, and 500 to 599 except 501 and 505,
    /// with which a server reports that it does not support the request.
    public var statuses: Set<Int> = Set(500..<600).subtracting([501, 505]).union([408, 425, 429])
    /// The methods that may be repeated when the server may have received the request. Default: the idempotent methods.
    public var repeatableMethods: Set<HTTPMethod> = HTTPMethod.idempotent

    /// Creates a policy. By default, it allows three attempts, with a delay of at most half a second before the second
    /// and at most one second before the third, unless the server specifies a delay, and does not wait for the network.
    /// Fewer than one attempt counts as one, and negative durations count as zero.
    public init(
        maximumAttempts: Int = 3,
        baseDelay: Duration = .milliseconds(500),
        maximumDelay: Duration = .seconds(30),
        maximumRetryAfter: Duration = .seconds(60),
        maximumNetworkWait: Duration = .zero
    ) {
        self.maximumAttempts = max(1, maximumAttempts)
        self.baseDelay = max(.zero, baseDelay)
        self.maximumDelay = max(.zero, maximumDelay)
        self.maximumRetryAfter = max(.zero, maximumRetryAfter)
        self.maximumNetworkWait = max(.zero, maximumNetworkWait)
    }

    /// Whether the same request may be repeated after a failure, regardless of the number of attempts.
    package func mayRepeat(_ method: HTTPMethod, after cause: RetryCause) -> Bool {
        switch cause {
        case .status(let status, _): statuses.contains(status) && repeatableMethods.contains(method)
        // The server has not received the request, so any method is safe.
        case .transport(.cannotResolveHost), .transport(.cannotConnect), .transport(.cannotConnectToProxy),
            .transport(.outOfDescriptors):
            true
        // An attempt without a network would fail in the same way.
        case .transport(.offline): maximumNetworkWait > .zero
        case .transport(.timedOut), .transport(.connectionLost): repeatableMethods.contains(method)
        // The same error would occur again, or no server is available.
        case .transport: false
        }
    }
}

/// The cause of a failed attempt, as far as it affects the decision to retry. A cancellation is not a cause.
package enum RetryCause: Sendable, Hashable {
    /// The server responded with this status, and may have specified a delay.
    case status(Int, retryAfter: Duration?)
    /// The exchange failed with a transport error.
    case transport(HTTPTransportError.Code)
}
