import AlcedoRuntime

/// The handlers that a data cache calls after its trims.
package final class TrimObservers: Sendable {
    package typealias Handler = @Sendable (DataCacheTrimReport) -> Void

    private struct State: Sendable {
        var handlers: [Int: Handler] = [:]
        var lastID = 0
    }

    private let permanent: Handler?
    private let state = Locked(State())

    /// Creates a set of handlers.
    ///
    /// - Parameter permanent: A handler that is called before all others, for the lifetime of the cache; nil for none.
    package init(_ permanent: Handler?) { self.permanent = permanent }

    /// Adds a handler, and returns a token. The handler is called until the token is released.
    package func add(_ handler: @escaping Handler) -> any Sendable {
        let id = state.withLock { state in
            state.lastID += 1
            state.handlers[state.lastID] = handler
            return state.lastID
        }
        // Releasing the handler may end another observation, so it is released outside the lock. Swift 6.2.3 with -O
        // releases a discarded result before the lock is unlocked, so the result has a name.
        return TrimObservation { [weak self] in
            let handler = self?.state.withLock { $0.handlers.removeValue(forKey: id) }
            withExtendedLifetime(handler) {}
        }
    }

    /// Calls the handlers if the report contains a removed entry.
    package func tell(_ report: DataCacheTrimReport) {
        guard !report.removals.isEmpty else { return }
        permanent?(report)
        for handler in state.withLock({ Array($0.handlers.values) }) { handler(report) }
    }
}

/// A registration of a handler for the trims of a data cache. It ends when the last reference to it is released.
private final class TrimObservation: Sendable {
    private let end: @Sendable () -> Void

    /// Creates a registration.
    ///
    /// - Parameter end: A closure that is called once, when the registration ends.
    init(end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
