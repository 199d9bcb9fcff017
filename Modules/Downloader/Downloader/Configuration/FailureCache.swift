import AlcedoCore
public import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// A cache of permanent failures, which avoids repeated requests for a missing image, for example while a list scrolls.
///
/// ```swift
/// import AlcedoDownloader
///
/// var configuration = DownloaderConfiguration()
/// configuration.failureCache = FailureCache(lifetime: .seconds(60))
/// ```
///
/// Only failures that are expected to occur again are recorded, such as a missing resource or content that is not an
/// image. Cancellations, timeouts and network failures are not recorded. A failure expires after its lifetime; the next
/// lookup removes it. A request that reloads, with a policy such as `reloadIgnoringLocalCacheData`, is sent anyway, as
/// is one of a pipeline that may not read the response cache. Its success removes the failure. When the cache is full,
/// the oldest failure is removed first. Methods may be called from any thread.
public final class FailureCache: Sendable {
    private struct Failure: Sendable {
        var id: Int
        var error: DownloadError
        var expiry: Duration
        /// The key of the request with its default fields. Configurations that share the cache may have other ones.
        var sent: ResourceKey
    }

    private struct State: Sendable {
        var failures: [ResourceKey: Failure] = [:]
        /// The keys of the failures, the oldest first. The oldest failure expires first, because all have the same
        /// lifetime.
        var byAge = WaiterQueue<ResourceKey>()
        var lastID = 0
    }

    private let lifetime: Duration
    private let countLimit: Int
    private let state = Locked(State())

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - lifetime: The time for which a failure is remembered. Default: 5 minutes.
    ///   - countLimit: The maximum number of remembered failures. With zero or less, no failure is remembered.
    ///     Default: 1,000.
    public init(lifetime: Duration = .seconds(300), countLimit: Int = 1_000) {
        self.lifetime = lifetime
        self.countLimit = max(0, countLimit)
    }

    /// The number of stored failures, including expired ones that have not been removed yet.
    package var count: Int { state.withLock { $0.failures.count } }

    /// Removes the failure of a request, so that the next equal request is sent. The method, the URL, the body and all
    /// fields must equal those of the failed request, as ``DownloaderConfiguration/modifyRequest`` returned it.
    public func remove(_ request: HTTPRequest) {
        let key = Self.key(request)
        state.withLock { Self.removeFailure(key, from: &$0) }
    }

    /// Removes all failures, so that every request is sent again.
    public func removeAll() { state.withLock { $0 = State() } }

    /// Returns the error with which the request failed before, or nil if none is remembered. Removes an expired
    /// failure. `sent` is the request with its default fields (nil: the same), and `now` is the clock's uptime.
    func failure(of request: HTTPRequest, sending sent: HTTPRequest? = nil, at now: Duration) -> DownloadError? {
        let (key, sent) = (Self.key(request), Self.key(sent ?? request))
        return state.withLock { state in
            guard let failure = state.failures[key], failure.sent == sent else { return nil }
            guard failure.expiry > now else {
                Self.removeFailure(key, from: &state)
                return nil
            }
            return failure.error
        }
    }

    /// Records the failure of a request if the failure is lasting. If the cache is full, the oldest failure is removed.
    /// `sent` is the request with its default fields (nil: the same), and `now` is the clock's uptime.
    func record(_ error: DownloadError, of request: HTTPRequest, sending sent: HTTPRequest? = nil, at now: Duration) {
        guard countLimit > 0, Self.isLasting(error.code) else { return }
        let (key, sent) = (Self.key(request), Self.key(sent ?? request))
        state.withLock { state in
            Self.removeFailure(key, from: &state)
            if state.failures.count >= countLimit, let oldest = state.byAge.popFirst() {
                state.failures[oldest.element] = nil
            }
            state.lastID += 1
            state.failures[key] = Failure(id: state.lastID, error: error, expiry: now + lifetime, sent: sent)
            state.byAge.add(state.lastID, key, priority: .normal)
        }
    }

    /// Returns whether an immediate repetition of the request is expected to fail in the same way.
    static func isLasting(_ code: DownloadError.Code) -> Bool {
        switch code {
        // Client errors, except those that a retry or a sign-in may resolve.
        case .status(let status): (400..<500).contains(status) && ![401, 407, 408, 421, 423, 425, 429].contains(status)
        case .empty, .tooLarge, .badRedirect, .unexpectedContent: true
        case .transport(.invalidRequest), .transport(.invalidResponse), .transport(.bodyTooLarge): true
        default: false
        }
    }

    /// Returns the key of a request. The key contains a hash of all fields. Any field may change the response, and the
    /// hash hides the secrets that some fields contain.
    private static func key(_ request: HTTPRequest) -> ResourceKey { ResourceKey(allFieldsOf: request) }

    private static func removeFailure(_ key: ResourceKey, from state: inout State) {
        guard let failure = state.failures.removeValue(forKey: key) else { return }
        _ = state.byAge.remove(failure.id)
    }
}
