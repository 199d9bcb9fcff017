import AlcedoCore
import AlcedoRuntime

/// Lets the changes of one resource go one after another, in the order in which they were asked for, and tells whether
/// there was one since some moment.
///
/// What was read may be put into a cache only if nothing has changed since: else it would bring back what was removed,
/// or cover what is newer. ``GenerationState`` decides under the lock; changes run outside it, each in a task of its own
/// that a cancellation of whoever asked does not reach.
final class GenerationCounter: Sendable {
    private let state = Locked(GenerationState())
    private let taskExecutor: (any TaskExecutor)?

    /// - Parameter taskExecutor: Runs the changes; nil is Swift's own executor.
    init(taskExecutor: (any TaskExecutor)?) { self.taskExecutor = taskExecutor }

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

    /// Starts a change of `resource` if nothing has changed since the generation; returns nil otherwise.
    func submitIfUnchanged<Value: Sendable>(
        _ resource: ResourceKey, since generation: Generation, _ change: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never>? {
        state.withLock { state in
            guard state.isUnchanged(resource, since: generation) else { return nil }
            return start(.resource(resource), &state, change)
        }
    }

    /// Records a change that is all done in `atOnce`, which runs under the lock as for ``submit(_:atOnce:_:)``.
    func recordChange<Value>(of scope: ChangeScope, atOnce: () -> Value) -> Value {
        state.withLock { state in
            state.recordChange(of: scope)
            return atOnce()
        }
    }

    /// Records a change of a resource as ``recordChange(of:atOnce:)``, and returns the generation after it as ``current(_:)``.
    func advance(of resource: ResourceKey, atOnce: () -> Void) -> Generation? {
        state.withLock { state in
            state.recordChange(of: .resource(resource))
            atOnce()
            return state.current(resource)
        }
    }

    /// Runs `body` if nothing has changed since the generation, under the lock as for ``submit(_:atOnce:_:)``. No change itself.
    func ifUnchanged(_ resource: ResourceKey, since generation: Generation, _ body: () -> Void) {
        state.withLock { state in
            if state.isUnchanged(resource, since: generation) { body() }
        }
    }

    /// Whether nothing has changed since the generation.
    func isUnchanged(_ resource: ResourceKey, since generation: Generation) -> Bool {
        state.withLock { $0.isUnchanged(resource, since: generation) }
    }

    /// Now, for ``submitIfUnchanged(_:since:_:)``; nil while a change of `resource` is under way.
    func current(_ resource: ResourceKey) -> Generation? { state.withLock { $0.current(resource) } }

    /// Returns when all changes of `scope` that were asked for so far have ended.
    func settle(_ scope: ChangeScope) async {
        for end in state.withLock({ $0.predecessors(of: scope) }) { await end() }
    }

    private func start<Value: Sendable>(
        _ scope: ChangeScope, _ state: inout GenerationState, _ change: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never> {
        let predecessors = state.predecessors(of: scope)
        let id = state.makeID()
        // It cannot end before it is remembered, for that takes the lock.
        let task = Task(executorPreference: taskExecutor) {
            for end in predecessors { await end() }
            defer { self.finish(scope, id: id) }
            return await change()
        }
        state.begin(scope, id: id) { _ = await task.value }
        return task
    }

    private func finish(_ scope: ChangeScope, id: Int) { state.withLock { $0.finish(scope, id: id) } }
}

/// What a change of a cache concerns.
enum ChangeScope: Sendable {
    /// All variants of it: whoever removes a resource does not know them one by one.
    case resource(ResourceKey)
    case everything
}

/// A state of a resource in a ``GenerationCounter``. Two generations of one resource are equal when it did not change between them.
struct Generation: Sendable, Hashable {
    /// Changes of the resource, and of others that share a counter with it.
    var count: Int
    /// Changes of everything.
    var globalCount: Int
}

/// Which changes are under way, and how many there were. Decides only: never awaits, never calls out.
private struct GenerationState: Sendable {
    /// Returns when a change has ended.
    typealias End = @Sendable () async -> Void

    private struct Change: Sendable {
        var id: Int
        var end: End
    }

    /// Many enough that resources which share a counter are rare, and few enough to stay for good.
    private static let counterCount = 64

    private var lastID = 0
    /// The last change of each resource, while it is under way or waits.
    private var latest: [ResourceKey: Change] = [:]
    /// The last change of everything. Those in ``latest`` were asked for after it.
    private var latestOfAll: Change?
    private var counts = [Int](repeating: 0, count: counterCount)
    private var globalCount = 0

    /// What a new change of `scope` has to wait for; all of it when it is a change of everything.
    func predecessors(of scope: ChangeScope) -> [End] {
        switch scope {
        case .resource(let resource):
            guard let change = latest[resource] ?? latestOfAll else { return [] }
            return [change.end]
        case .everything: return (latest.values + [latestOfAll].compactMap { $0 }).map(\.end)
        }
    }

    /// Records that `scope` changes, so that no earlier generation is current any more.
    mutating func recordChange(of scope: ChangeScope) {
        switch scope {
        case .resource(let resource): counts[Self.counter(of: resource)] += 1
        case .everything: globalCount += 1
        }
    }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    mutating func begin(_ scope: ChangeScope, id: Int, end: @escaping End) {
        recordChange(of: scope)
        let change = Change(id: id, end: end)
        switch scope {
        case .resource(let resource): latest[resource] = change
        case .everything:
            latest = [:]
            latestOfAll = change
        }
    }

    mutating func finish(_ scope: ChangeScope, id: Int) {
        switch scope {
        case .resource(let resource): if latest[resource]?.id == id { latest[resource] = nil }
        case .everything: if latestOfAll?.id == id { latestOfAll = nil }
        }
    }

    /// nil while a change of the resource is under way.
    func current(_ resource: ResourceKey) -> Generation? {
        latestOfAll == nil && latest[resource] == nil ? snapshot(of: resource) : nil
    }

    /// Whether nothing changed since the generation: a generation is read between changes, and each that begins is counted.
    func isUnchanged(_ resource: ResourceKey, since generation: Generation) -> Bool {
        snapshot(of: resource) == generation
    }

    private func snapshot(of resource: ResourceKey) -> Generation {
        Generation(count: counts[Self.counter(of: resource)], globalCount: globalCount)
    }

    private static func counter(of resource: ResourceKey) -> Int {
        Int(truncatingIfNeeded: UInt(bitPattern: resource.hashValue) % UInt(counterCount))
    }
}
