/// A priority that may change while its work waits or runs. A larger number is a higher priority; 0 is the default.
///
/// The component that does the work observes the priority. When it is notified of a change, it reads ``value`` under
/// its own lock, so that it always uses the latest value, regardless of the order in which notifications arrive.
@usableFromInline
package final class AdjustablePriority: Sendable {
    private struct State: Sendable {
        var value: Int
        var version = 0
        /// The observers, usually only one.
        var observers: [(id: Int, notify: @Sendable (AdjustablePriority) -> Void)] = []
        var lastID = 0
    }

    private let state: Locked<State>

    /// Creates a priority without observers.
    @usableFromInline
    package init(_ value: Int) { state = Locked(State(value: value)) }

    /// The current priority.
    @usableFromInline package var value: Int { state.withLock { $0.value } }

    /// Changes the priority and, if the value differs, notifies the observers on the calling thread.
    package func set(_ value: Int) {
        let observers = state.withLock { state in
            state.version += 1
            return Self.change(&state, to: value)
        }
        for observer in observers { observer(self) }
    }

    /// Changes the priority like ``set(_:)``, unless a change with the same or a higher version was made.
    ///
    /// Use it if changes are determined under a lock and applied outside it.
    @usableFromInline
    package func set(_ value: Int, version: Int) {
        let observers = state.withLock { state -> [@Sendable (AdjustablePriority) -> Void] in
            guard version > state.version else { return [] }
            state.version = version
            return Self.change(&state, to: value)
        }
        for observer in observers { observer(self) }
    }

    /// Calls `change` at each change of the priority while `body` runs. Throws the error of `body`.
    ///
    /// Any thread may call `change`, which must not block. Calls for changes that were made before `body` ended may
    /// arrive after its end.
    package func observing<Value: Sendable>(
        _ change: @escaping @Sendable () -> Void, _ body: () async throws -> Value
    ) async rethrows -> Value {
        let id = observe { _ in change() }
        defer { removeObserver(id) }
        return try await body()
    }

    /// Calls `change` with this priority at each change, until ``removeObserver(_:)`` is called with the returned
    /// number. Any thread may call it, and it must not block. Calls for changes that were made before may arrive later.
    @discardableResult @usableFromInline
    package func observe(_ change: @escaping @Sendable (AdjustablePriority) -> Void) -> Int {
        state.withLock { state in
            state.lastID += 1
            state.observers.append((state.lastID, change))
            return state.lastID
        }
    }

    @usableFromInline
    package func removeObserver(_ id: Int) { state.withLock { $0.observers.removeAll { $0.id == id } } }

    private static func change(_ state: inout State, to value: Int) -> [@Sendable (AdjustablePriority) -> Void] {
        guard value != state.value else { return [] }
        state.value = value
        return state.observers.map(\.notify)
    }
}
