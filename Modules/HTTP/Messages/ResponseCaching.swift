import AlcedoRuntime

/// The origin of a response that a caching transport returned: the network or the transport's store.
///
/// A pipeline loads a response from a store again if its bytes do not decode: see
/// ``HTTPCachePolicy/reloadIgnoringLocalAndRemoteCacheData``.
public enum ResponseSource: String, Sendable, Hashable {
    /// The network.
    case new
    /// The store: the response was fresh, and the server received no request.
    case fresh
    /// The store, after the server confirmed the response.
    case revalidated
    /// The store: the response was stale.
    case stale
}

/// The decisions of a response cache about one response.
package struct ResponseCaching: Sendable {
    package typealias Source = ResponseSource

    package var source: Source
    /// The decision whether other caches may store the content. Final after the body has been read to its end.
    package var decision: StorageDecision

    package init(source: Source, decision: StorageDecision) {
        self.source = source
        self.decision = decision
    }

    /// Creates the decisions of a cache that reports only the source of a response. Other caches may store the content
    /// unless the response forbids it.
    package init(source: Source, fields: HTTPFields) {
        let isForbidden = fields.list("Cache-Control", contains: "no-store")
        self.init(source: source, decision: StorageDecision(isForbidden ? .notAllowed : .allowed))
    }
}

extension ResponseCaching? {
    /// The caches in which the content may be stored; nil without a response cache.
    package var policy: ResponseStoragePolicy? {
        get { self?.decision.policy }
        set {
            self = newValue.map { ResponseCaching(source: self?.source ?? .new, decision: StorageDecision($0)) }
        }
    }

    /// Sets the origin of a response with these fields, and keeps the decision about storing. Nil stands for no
    /// response cache.
    package mutating func setSource(_ source: ResponseSource?, fields: HTTPFields) {
        let decision = self?.decision
        self = source.map { ResponseCaching(source: $0, fields: fields) }
        if let decision { self?.decision = decision }
    }
}

/// The decision whether a copy of a response may be stored. Caches above the response cache read it before they store
/// the content.
///
/// The decision may become stricter while the body arrives, because a hook of the response cache inspects the complete
/// response.
package final class StorageDecision: Sendable {
    private let current: Locked<ResponseStoragePolicy>

    /// Creates a decision that may become stricter.
    package init(_ policy: ResponseStoragePolicy) { current = Locked(policy) }

    /// The current decision.
    package var policy: ResponseStoragePolicy { current.withLock { $0 } }

    /// Changes the decision to `policy`, unless it is already stricter.
    package func restrict(to policy: ResponseStoragePolicy) {
        current.withLock { current in
            if policy.rawValue > current.rawValue { current = policy }
        }
    }
}

/// The permitted storage of a response: the storage policies of `URLCache`. A stricter policy has a larger raw value.
public enum ResponseStoragePolicy: UInt8, Sendable, Hashable, CaseIterable {
    /// The response may be stored anywhere.
    case allowed
    /// The response may be stored in memory, but never on disk.
    case allowedInMemoryOnly
    /// The response must not be stored.
    case notAllowed
}
