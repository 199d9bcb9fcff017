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
    package func add(_ handler: @escaping Handler) -> DataCacheTrimObservation {
        let id = state.withLock { state in
            state.lastID += 1
            state.handlers[state.lastID] = handler
            return state.lastID
        }
        // What the handler holds may end another observation, so it is released outside the lock. Swift 6.2.3 with -O
        // releases a discarded result before the lock is unlocked, so the result has a name.
        return DataCacheTrimObservation { [weak self] in
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
