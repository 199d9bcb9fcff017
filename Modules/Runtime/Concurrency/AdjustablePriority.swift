/// A priority that may change while the work it is of waits or runs. A larger number is more urgent; 0 is the default.
///
/// Whoever does the work observes it, and asks for ``value`` under a lock of its own when it is told of a change: so the
/// last one to look has the last word, whatever order the changes arrive in.
package final class AdjustablePriority: Sendable {
    private struct State: Sendable {
        var value: Int
        var version = 0
        /// Few, and most often one.
        var observers: [(id: Int, notify: @Sendable () -> Void)] = []
        var lastID = 0
    }

    private let state: Locked<State>

    /// A priority that nobody observes yet.
    package init(_ value: Int) { state = Locked(State(value: value)) }

    /// The priority as it is now.
    package var value: Int { state.withLock { $0.value } }

    /// Changes the priority, and tells those who observe it, on this thread.
    package func set(_ value: Int) {
        let observers = state.withLock { state in
            state.version += 1
            return Self.change(&state, to: value)
        }
        for observer in observers { observer() }
    }

    /// As ``set(_:)``, unless a change with a higher number has been made: for owners who find out under a lock, and notify
    /// outside it.
    package func set(_ value: Int, version: Int) {
        let observers = state.withLock { state -> [@Sendable () -> Void] in
            guard version > state.version else { return [] }
            state.version = version
            return Self.change(&state, to: value)
        }
        for observer in observers { observer() }
    }

    /// Calls `change` at each change while `body` runs. It may come from any thread and must not block; one last call may
    /// come when `body` has ended. Throws what `body` throws.
    package func observing<Value: Sendable>(
        _ change: @escaping @Sendable () -> Void, _ body: () async throws -> Value
    ) async rethrows -> Value {
        let id = state.withLock { state in
            state.lastID += 1
            state.observers.append((state.lastID, change))
            return state.lastID
        }
        defer { state.withLock { $0.observers.removeAll { $0.id == id } } }
        return try await body()
    }

    private static func change(_ state: inout State, to value: Int) -> [@Sendable () -> Void] {
        guard value != state.value else { return [] }
        state.value = value
        return state.observers.map(\.notify)
    }
}
