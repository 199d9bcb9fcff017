import AlcedoRuntime

/// What went when a data cache kept its limits.
public struct DataCacheTrimReport: Sendable, Hashable {
    /// Why an entry went.
    public enum Reason: String, Sendable {
        /// Its time was over.
        case expired
        /// The entries occupied more than ``DataCacheLimits/maximumSize``.
        case sizeLimit
        /// There were more entries than ``DataCacheLimits/maximumCount``.
        case countLimit
        /// The storage was full.
        case noSpace
        /// Somebody asked for a trim to less than the limits.
        case requested
    }

    /// An entry that went.
    public struct Removal: Sendable, Hashable {
        /// ``ImageKey/fileName`` of the entry's key.
        public var name: String
        /// The bytes that it occupied, as ``DataCacheLimits/maximumSize`` counts them.
        public var size: Int
        /// Why it went.
        public var reason: Reason

        /// What a cache says of an entry that went.
        package init(name: String, size: Int, reason: Reason) {
            self.name = name
            self.size = size
            self.reason = reason
        }
    }

    /// In the order in which they went.
    public var removals: [Removal]
    /// Why more is left than should be, where the cache tells.
    package var refusal: DataCacheError?

    /// A report; by default of nothing.
    package init(removals: [Removal] = [], refusal: DataCacheError? = nil) {
        self.removals = removals
        self.refusal = refusal
    }

    /// Bytes that became free.
    package var byteCount: Int { removals.reduce(0) { $0 + $1.size } }
}

/// The handlers that a data cache calls after its trims.
package final class TrimObservers: Sendable {
    package typealias Handler = @Sendable (DataCacheTrimReport) -> Void

    private struct State: Sendable {
        var handlers: [Int: Handler] = [:]
        var lastID = 0
    }

    private let permanent: Handler?
    private let state = Locked(State())

    /// - Parameter permanent: Called first, as long as the cache is there; nil: none.
    package init(_ permanent: Handler?) { self.permanent = permanent }

    /// Adds a handler until the observation is released.
    package func add(_ handler: @escaping Handler) -> any Sendable {
        let id = state.withLock { state in
            state.lastID += 1
            state.handlers[state.lastID] = handler
            return state.lastID
        }
        // What the handler holds may end another observation, so it is released outside the lock. Swift 6.2.3 with -O
        // releases a discarded result before the lock is unlocked, so the result has a name.
        return TrimObservation { [weak self] in
            let handler = self?.state.withLock { $0.handlers.removeValue(forKey: id) }
            withExtendedLifetime(handler) {}
        }
    }

    /// Calls the handlers, unless nothing was removed.
    package func tell(_ report: DataCacheTrimReport) {
        guard !report.removals.isEmpty else { return }
        permanent?(report)
        for handler in state.withLock({ Array($0.handlers.values) }) { handler(report) }
    }
}

/// A registration of a handler for the trims of a data cache, which ends when the last reference to it is released.
private final class TrimObservation: Sendable {
    private let end: @Sendable () -> Void

    /// - Parameter end: Called once, when the registration ends.
    init(end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
