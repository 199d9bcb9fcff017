public import AlcedoCore
import AlcedoRuntime

/// A source of memory pressure whose level a test sets.
///
/// ```swift
/// import AlcedoMemoryCache
/// import AlcedoTesting
///
/// let source = ManualMemoryPressureSource()
/// let cache = ImageMemoryCache(costLimit: 64 << 20, pressureSource: source)
/// source.set(.critical)
/// ```
///
/// Observers are called before ``set(_:)`` returns, on the thread that calls it. Calls may come from any thread. When
/// another thread or an observer sets a level during the call, the order in which observers receive the levels is
/// undefined.
public final class ManualMemoryPressureSource: MemoryPressureSource {
    private struct State {
        var level: MemoryPressure
        var handlers: [Int: @Sendable (MemoryPressure) -> Void] = [:]
        var lastID = 0
    }

    /// A token that ends its observation when it is released.
    private final class Token: Sendable {
        private let source: ManualMemoryPressureSource
        private let id: Int

        init(source: ManualMemoryPressureSource, id: Int) { (self.source, self.id) = (source, id) }

        deinit { source.remove(id) }
    }

    private let state: Locked<State>

    /// Creates a source of memory pressure.
    ///
    /// - Parameter level: The initial level. Default: `normal`.
    public init(level: MemoryPressure = .normal) { state = Locked(State(level: level)) }

    package var level: MemoryPressure { state.withLock { $0.level } }

    /// The number of active observations.
    package var observerCount: Int { state.withLock { $0.handlers.count } }

    /// Sets the level and, if the level changes, calls the observers.
    ///
    /// Observers are called in the order in which they were added, outside any lock. They may add and remove observers.
    /// An observer that is added during the call is first called at the next change.
    public func set(_ level: MemoryPressure) {
        let ids = state.withLock { state -> [Int] in
            guard state.level != level else { return [] }
            state.level = level
            return state.handlers.keys.sorted()
        }
        for id in ids {
            // The previous handler may have ended this observation, so the handler is looked up again.
            let handler = state.withLock { $0.handlers[id] }
            handler?(level)
        }
    }

    /// Calls `handler` at each change of the level until the returned token is released. Does not call it for the
    /// current level. A call of ``set(_:)`` in progress on another thread may still call it after the release.
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
