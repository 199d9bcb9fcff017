import AlcedoCore

/// Lets the changes of one resource go one after another, in the order in which they were asked for, and tells whether
/// there was one since some moment.
///
/// What was read may be put into a cache only if nothing has changed since: else it would bring back what was removed,
/// or cover what is newer. ``ChangeOrderState`` decides under the lock; changes run outside it, each in a task of its own
/// that a cancellation of whoever asked does not reach.
final class ChangeOrder: Sendable {
    private let state = Locked(ChangeOrderState())

    /// Starts a change. It begins when the earlier changes of `scope` have ended.
    ///
    /// - Parameter atOnce: Done before this returns, under the lock, so that it has the same order. Must not call the
    ///   owner of this object, nor wait.
    func submit<Value: Sendable>(
        _ scope: ChangeScope, atOnce: () -> Void = {}, _ change: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never> {
        state.withLock { state in
            atOnce()
            return start(scope, &state, change)
        }
    }

    /// Starts a change of `resource` if nothing has changed since the mark; returns nil otherwise.
    func submit<Value: Sendable>(
        _ resource: ResourceKey, ifUnchangedSince mark: ChangeMark, _ change: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never>? {
        state.withLock { state in
            guard state.isUnchanged(resource, since: mark) else { return nil }
            return start(.resource(resource), &state, change)
        }
    }

    /// Notes a change that is all done in `atOnce`, which runs under the lock as for ``submit(_:atOnce:_:)``.
    func change<Value>(_ scope: ChangeScope, atOnce: () -> Value) -> Value {
        state.withLock { state in
            state.noteChange(of: scope)
            return atOnce()
        }
    }

    /// Notes a change of a resource as ``change(_:atOnce:)``, and returns the moment behind it as ``mark(_:)``.
    func mark(afterChanging resource: ResourceKey, atOnce: () -> Void) -> ChangeMark? {
        state.withLock { state in
            state.noteChange(of: .resource(resource))
            atOnce()
            return state.mark(resource)
        }
    }

    /// Runs `body` if nothing has changed since the mark, under the lock as for ``submit(_:atOnce:_:)``. No change itself.
    func ifUnchanged(_ resource: ResourceKey, since mark: ChangeMark, _ body: () -> Void) {
        state.withLock { state in
            if state.isUnchanged(resource, since: mark) { body() }
        }
    }

    /// Whether nothing has changed since the mark.
    func isUnchanged(_ resource: ResourceKey, since mark: ChangeMark) -> Bool {
        state.withLock { $0.isUnchanged(resource, since: mark) }
    }

    /// Now, for ``submit(_:ifUnchangedSince:_:)``; nil while a change of `resource` is under way.
    func mark(_ resource: ResourceKey) -> ChangeMark? { state.withLock { $0.mark(resource) } }

    /// Returns when all changes of `scope` that were asked for so far have ended.
    func settle(_ scope: ChangeScope) async {
        for end in state.withLock({ $0.predecessors(of: scope) }) { await end() }
    }

    private func start<Value: Sendable>(
        _ scope: ChangeScope, _ state: inout ChangeOrderState, _ change: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never> {
        let predecessors = state.predecessors(of: scope)
        let id = state.makeID()
        // It cannot end before it is remembered, for that takes the lock.
        let task = Task {
            for end in predecessors { await end() }
            defer { self.finish(scope, id: id) }
            return await change()
        }
        state.begin(scope, id: id) { _ = await task.value }
        return task
    }

    private func finish(_ scope: ChangeScope, id: Int) { state.withLock { $0.finish(scope, id: id) } }
}
