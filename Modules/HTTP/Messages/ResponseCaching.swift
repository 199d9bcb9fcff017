import AlcedoRuntime

/// The part of a caching transport that a response came from.
public enum ResponseSource: String, Sendable, Hashable {
    /// From the network.
    case new
    /// From the store, without a request to the server, and fresh.
    case fresh
    /// From the store, after the server has confirmed it.
    case revalidated
    /// From the store, and older than it should be.
    case stale
}

/// What a response cache did with a request, and whether the response may be kept by others.
package struct ResponseCaching: Sendable {
    package typealias Source = ResponseSource

    /// Where the response came from.
    package var source: Source
    /// Whether a copy of the content may be kept. Final when the body has been read to its end.
    package var decision: StorageDecision

    package init(source: Source, decision: StorageDecision) {
        self.source = source
        self.decision = decision
    }
}

/// Whether a copy of an answer may be kept. A cache further up asks this before it keeps the bytes for itself.
///
/// The decision may become stricter while the body arrives, because a hook of the response cache sees the whole of it.
package final class StorageDecision: Sendable {
    private let current: Locked<ResponseStoragePolicy>

    /// A decision that may become stricter.
    package init(_ policy: ResponseStoragePolicy) { current = Locked(policy) }

    /// The decision as it stands now.
    package var policy: ResponseStoragePolicy { current.withLock { $0 } }

    /// Makes the decision `policy`, unless it is stricter already.
    package func restrict(to policy: ResponseStoragePolicy) {
        current.withLock { current in
            if policy.rawValue > current.rawValue { current = policy }
        }
    }
}

/// Where an answer may be kept: the storage policies of `URLCache`. The stricter one is the larger.
public enum ResponseStoragePolicy: UInt8, Sendable, Hashable, CaseIterable {
    /// Anywhere.
    case allowed
    /// In memory, and never on disk.
    case allowedInMemoryOnly
    /// Nowhere.
    case notAllowed
}
