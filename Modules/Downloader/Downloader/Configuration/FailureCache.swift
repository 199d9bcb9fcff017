import AlcedoCore
public import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// Remembers permanent failures, so that a request is not sent again and again while a list is scrolled.
///
/// Only failures that would come again are remembered: that the server does not have the resource, or that the content is
/// not an image. Never a cancellation, a timeout, or a failure of the network. A failure is removed after its lifetime, or
/// when there are more than the maximum, the oldest first. Calls may come from any thread.
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
    private let maximumCount: Int
    private let state = Locked(State())

    /// - Parameters:
    ///   - lifetime: How long a failure is remembered. Default: 5 minutes.
    ///   - maximumCount: The maximum number of failures that are remembered. Default: 1,000.
    public init(lifetime: Duration = .seconds(300), maximumCount: Int = 1_000) {
        self.lifetime = lifetime
        self.maximumCount = max(0, maximumCount)
    }

    /// The number of remembered failures, expired ones that no request has looked up included.
    package var count: Int { state.withLock { $0.failures.count } }

    /// Removes the failure of a request with just these fields; the next one is sent.
    public func remove(_ request: HTTPRequest) {
        let key = Self.key(request)
        state.withLock { Self.removeFailure(key, from: &$0) }
    }

    /// Removes all failures.
    public func removeAll() { state.withLock { $0 = State() } }

    /// Why the request failed the last time; nil when that is not remembered.
    ///
    /// - Parameter now: Uptime.
    func failure(of request: HTTPRequest, at now: Duration) -> DownloadError? {
        let key = Self.key(request)
        return state.withLock { state in
            guard let failure = state.failures[key] else { return nil }
            guard failure.expiry > now else {
                Self.removeFailure(key, from: &state)
                return nil
            }
            return failure.error
        }
    }

    /// Remembers that the request failed, if it would again.
    ///
    /// - Parameter now: Uptime.
    func record(_ error: DownloadError, of request: HTTPRequest, at now: Duration) {
        guard maximumCount > 0, Self.isLasting(error.code) else { return }
        let key = Self.key(request)
        state.withLock { state in
            Self.removeFailure(key, from: &state)
            if state.failures.count >= maximumCount, let oldest = state.byAge.popFirst() {
                state.failures[oldest.element] = nil
            }
            state.lastID += 1
            state.failures[key] = Failure(id: state.lastID, error: error, expiry: now + lifetime)
            state.byAge.add(state.lastID, key, priority: .normal)
        }
    }

    /// Whether a failure would come again if the request were sent again at once.
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

    private static func removeFailure(_ key: ResourceKey, from state: inout State) {
        guard let failure = state.failures.removeValue(forKey: key) else { return }
        _ = state.byAge.remove(failure.id)
    }
}
