import AlcedoCore
public import AlcedoHTTP
import AlcedoRuntime
public import FoundationEssentials

/// Remembers what failed for good, so that it is not asked for again and again while a list is scrolled.
///
/// Only failures that would come again are remembered: that the server has no such thing, or sends what is no picture.
/// Never a cancellation, a timeout, or trouble with the network. What is remembered is forgotten after a time, or when
/// there is more of it than the limit, the oldest first. Calls may come from any thread.
public final class FailureCache: Sendable {
    private struct Failure: Sendable {
        var id: Int
        var error: DownloadError
        var expiry: Duration
    }

    private struct State: Sendable {
        var failures: [ResourceKey: Failure] = [:]
        /// The oldest is the first to expire, since all live equally long.
        var byAge = WaiterQueue<ResourceKey>()
        var lastID = 0
    }

    private let lifetime: Duration
    private let limit: Int
    private let state = Locked(State())

    /// - Parameters:
    ///   - lifetime: How long a failure is remembered. Default: 5 minutes.
    ///   - limit: Most failures that are remembered. Default: 1,000.
    public init(lifetime: Duration = .seconds(300), limit: Int = 1_000) {
        self.lifetime = lifetime
        self.limit = max(0, limit)
    }

    /// How many failures are remembered, expired ones that nobody has asked for included.
    package var count: Int { state.withLock { $0.failures.count } }

    /// Forgets what is remembered of a request, of just these fields; the next one is sent.
    public func forget(_ request: HTTPRequest) {
        let key = Self.key(request)
        state.withLock { Self.remove(key, from: &$0) }
    }

    /// Forgets what is remembered of plain requests for a URL.
    public func forget(_ url: URL) { forget(HTTPRequest(url: url)) }

    /// Forgets all failures.
    public func forgetAll() { state.withLock { $0 = State() } }

    /// Why the request failed the last time; nil when that is not remembered.
    ///
    /// - Parameter now: Uptime.
    func failure(of request: HTTPRequest, at now: Duration) -> DownloadError? {
        let key = Self.key(request)
        return state.withLock { state in
            guard let failure = state.failures[key] else { return nil }
            guard failure.expiry > now else {
                Self.remove(key, from: &state)
                return nil
            }
            return failure.error
        }
    }

    /// Remembers that the request failed, if it would again.
    ///
    /// - Parameter now: Uptime.
    func note(_ error: DownloadError, of request: HTTPRequest, at now: Duration) {
        guard limit > 0, Self.isLasting(error.code) else { return }
        let key = Self.key(request)
        state.withLock { state in
            Self.remove(key, from: &state)
            if state.failures.count >= limit, let oldest = state.byAge.popFirst() {
                state.failures[oldest.element] = nil
            }
            state.lastID += 1
            state.failures[key] = Failure(id: state.lastID, error: error, expiry: now + lifetime)
            state.byAge.add(state.lastID, key, priority: .normal)
        }
    }

    /// Whether a failure would come again if the same were asked for at once.
    static func isLasting(_ code: DownloadError.Code) -> Bool {
        switch code {
        // What the client did wrong, or what is not there; not what a retry may change, or what a sign-in would.
        case .status(let status): (400..<500).contains(status) && ![401, 407, 408, 421, 423, 425, 429].contains(status)
        case .empty, .tooLarge, .badRedirect, .unexpectedContent: true
        case .transport(.invalidRequest), .transport(.invalidResponse), .transport(.bodyTooLarge): true
        default: false
        }
    }

    /// Another field may be why the server says something else, whatever its name. A digest, because some are secret.
    private static func key(_ request: HTTPRequest) -> ResourceKey {
        let resource = ResourceKey(request)
        guard !request.fields.fields.isEmpty else { return resource }
        var digest = SHA256()
        for field in request.fields {
            let name = field.name.lowercased()
            digest.update(Array("\(name.utf8.count):\(field.value.utf8.count):\(name)\(field.value)".utf8))
        }
        return ResourceKey("\(resource) \(digest.finalizedHexadecimal())")
    }

    private static func remove(_ key: ResourceKey, from state: inout State) {
        guard let failure = state.failures.removeValue(forKey: key) else { return }
        _ = state.byAge.remove(failure.id)
    }
}
