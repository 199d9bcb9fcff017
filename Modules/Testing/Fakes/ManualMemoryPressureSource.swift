public import AlcedoCore
import AlcedoRuntime

/// A source of memory pressure that a test turns up and down.
///
/// Observers are called before ``set(_:)`` returns, on the thread that calls it. Calls may come from any thread; a test
/// that sets levels from several at once cannot tell in which order observers see them.
public final class ManualMemoryPressureSource: MemoryPressureSource {
    private struct State {
        var level: MemoryPressure
        var handlers: [Int: @Sendable (MemoryPressure) -> Void] = [:]
        var lastID = 0
    }

    /// Ends an observation when it goes.
    private final class Token: Sendable {
        private let source: ManualMemoryPressureSource
        private let id: Int

        init(source: ManualMemoryPressureSource, id: Int) { (self.source, self.id) = (source, id) }

        deinit { source.remove(id) }
    }

    private let state: Locked<State>

    /// - Parameter level: The first level. Default: `normal`.
    public init(level: MemoryPressure = .normal) { state = Locked(State(level: level)) }

    /// The level that was set last.
    package var level: MemoryPressure { state.withLock { $0.level } }

    /// How many tokens are held.
    package var observerCount: Int { state.withLock { $0.handlers.count } }

    /// Sets the level and, if that changes it, calls the observers: in the order they came, outside any lock. They may
    /// add and drop observers; one that is added is called from the next change on.
    public func set(_ level: MemoryPressure) {
        let ids = state.withLock { state -> [Int] in
            guard state.level != level else { return [] }
            state.level = level
            return state.handlers.keys.sorted()
        }
        for id in ids {
            // Looked up again each time: the last handler may have ended this observation.
            let handler = state.withLock { $0.handlers[id] }
            handler?(level)
        }
    }

    /// Calls `handler` at each change of the level until the returned token is let go; not for the level of now.
    public func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> any Sendable {
        let id = state.withLock { state in
            state.lastID += 1
            state.handlers[state.lastID] = handler
            return state.lastID
        }
        return Token(source: self, id: id)
    }

    private func remove(_ id: Int) {
        let handler = state.withLock { $0.handlers.removeValue(forKey: id) }
        _ = consume handler
    }
}
