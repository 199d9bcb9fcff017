/// The handlers of an event, in the order in which they were added.
///
/// ```swift
/// let trims = Observers<DataCacheTrimReport>()
/// let token = trims.add { print($0.removals.count) }
/// trims.tell(report)
/// ```
///
/// Handlers are called outside any lock. They may add and remove handlers.
package final class Observers<Event: Sendable>: Sendable {
    package typealias Handler = @Sendable (Event) -> Void

    private struct State: Sendable {
        var handlers: [Int: Handler]
        var lastID = 0
    }

    private let state: Locked<State>

    /// Creates a set of handlers.
    ///
    /// - Parameter permanent: A handler that is called before all others, and is never removed. Default: nil, for none.
    package init(_ permanent: Handler? = nil) { state = Locked(State(handlers: permanent.map { [0: $0] } ?? [:])) }

    /// The number of handlers.
    package var count: Int { state.withLock { $0.handlers.count } }

    /// Adds a handler, and returns a token. The handler is called until the token is released. A call in progress on
    /// another thread may end after that.
    ///
    /// - Parameters:
    ///   - handler: The handler.
    ///   - onEnd: A closure that is called after the handler has been removed. The token keeps it until then. Default:
    ///     does nothing.
    package func add(_ handler: @escaping Handler, onEnd: @escaping @Sendable () -> Void = {}) -> any Sendable {
        let id = state.withLock { state in
            state.lastID += 1
            state.handlers[state.lastID] = handler
            return state.lastID
        }
        return Observation { [weak self] in
            // Releasing the handler may end another observation, so it is released outside the lock. Swift 6.2.3 with
            // -O releases a discarded result before the lock is unlocked, so the result has a name.
            let handler = self?.state.withLock { $0.handlers.removeValue(forKey: id) }
            withExtendedLifetime(handler) {}
            onEnd()
        }
    }

    /// Calls the handlers.
    package func tell(_ event: Event) { call(with: event)() }

    /// Returns a closure that calls the present handlers. It does not call those that are removed before their turn.
    package func call(with event: Event) -> () -> Void {
        let ids = state.withLock { $0.handlers.keys.sorted() }
        return { [self] in
            for id in ids {
                let handler = state.withLock { $0.handlers[id] }
                handler?(event)
            }
        }
    }
}

/// A token that ends an observation when it is released.
private final class Observation: Sendable {
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
