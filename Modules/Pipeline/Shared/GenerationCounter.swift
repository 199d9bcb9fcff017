import AlcedoCore
import AlcedoRuntime

/// An object that serializes the changes of each resource, and detects whether a resource changed since an earlier
/// moment.
///
/// A value that was read may be stored in a cache only if its resource has not changed since the read began. Otherwise
/// the store would restore a removed entry or replace a newer one. ``GenerationState`` decides under the lock. Changes
/// run outside the lock, each in its own task, so that canceling the caller does not cancel the change.
///
/// The changes of a resource are recorded as long as one of its generations exists, however many other resources
/// change meanwhile.
final class GenerationCounter: Sendable {
    private let state = Locked(GenerationState())
    private let taskExecutor: (any TaskExecutor)?

    /// Creates a counter.
    ///
    /// - Parameter taskExecutor: The executor of the changes, or nil for Swift's own.
    init(taskExecutor: (any TaskExecutor)?) { self.taskExecutor = taskExecutor }

    /// Submits a change and returns its task. The change begins when the earlier changes of `scope` have ended.
    ///
    /// - Parameters:
    ///   - scope: The resource that changes, or everything.
    ///   - atOnce: A closure that runs before this method returns, under the lock, so that such closures run in the
    ///     order of the changes. It must not call the owner of this object, and must not wait.
    ///   - change: The change.
    func submit<Value: Sendable>(
        _ scope: ChangeScope, atOnce: () -> Void = {}, _ change: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never> {
        state.withLock { state in
            atOnce()
            return start(scope, &state, change)
        }
    }

    /// Submits a change of `resource` and returns its task, if the resource has not changed since the generation.
    /// Otherwise returns nil.
    func submitIfUnchanged<Value: Sendable>(
        _ resource: ResourceKey, since generation: Generation, _ change: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never>? {
        state.withLock { state in
            guard state.isUnchanged(resource, since: generation) else { return nil }
            return start(.resource(resource), &state, change)
        }
    }

    /// Records a change that consists of `atOnce` alone, and returns its result. `atOnce` runs under the lock, as in
    /// ``submit(_:atOnce:_:)``.
    func recordChange<Value>(of scope: ChangeScope, atOnce: () -> Value) -> Value {
        state.withLock { state in
            state.recordChange(of: scope)
            return atOnce()
        }
    }

    /// Records a change of a resource as ``recordChange(of:atOnce:)`` does.
    func advance(of resource: ResourceKey, atOnce: () -> Void = {}) -> GenerationStep {
        state.withLock { state in
            let before = state.lastChange(of: resource)
            state.recordChange(of: .resource(resource))
            atOnce()
            return GenerationStep(lastChangeBefore: before, after: current(resource, &state))
        }
    }

    /// Runs `body` if the resource has not changed since the generation, under the lock as in ``submit(_:atOnce:_:)``.
    /// This is not a change of the resource.
    func ifUnchanged(_ resource: ResourceKey, since generation: Generation, _ body: () -> Void) {
        state.withLock { state in
            if state.isUnchanged(resource, since: generation) { body() }
        }
    }

    /// Returns whether the resource has not changed since the generation.
    func isUnchanged(_ resource: ResourceKey, since generation: Generation) -> Bool {
        state.withLock { $0.isUnchanged(resource, since: generation) }
    }

    /// Returns the current generation for ``submitIfUnchanged(_:since:_:)``, or nil while a change of `resource` is in
    /// progress.
    func current(_ resource: ResourceKey) -> Generation? { state.withLock { current(resource, &$0) } }

    private func current(_ resource: ResourceKey, _ state: inout GenerationState) -> Generation? {
        guard let numbers = state.beginFlight(resource) else { return nil }
        return Generation(
            lastChange: numbers.lastChange, changeCount: numbers.changeCount,
            flight: GenerationFlight(of: resource, in: self))
    }

    fileprivate func endFlight(_ resource: ResourceKey) { state.withLock { $0.endFlight(resource) } }

    /// Returns when all changes of `scope` submitted so far have ended.
    func settle(_ scope: ChangeScope) async {
        for end in state.withLock({ $0.predecessors(of: scope) }) { await end() }
    }

    private func start<Value: Sendable>(
        _ scope: ChangeScope, _ state: inout GenerationState, _ change: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never> {
        let predecessors = state.predecessors(of: scope)
        let id = state.makeID()
        // The task cannot finish before it is recorded, because finishing needs the lock, which the caller holds.
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

/// The part of a cache that a change affects.
enum ChangeScope: Sendable {
    /// A resource with all its variants, because a caller that removes a resource does not know its variants.
    case resource(ResourceKey)
    case everything
}

/// A state of a resource in a ``GenerationCounter``. Must not be released in a closure that runs under the counter's
/// lock.
struct Generation: Sendable {
    /// The number of the last change of the resource. It is equal in two generations that exist at the same time only
    /// if the resource did not change between them.
    let lastChange: Int
    /// The number of changes of all resources when the generation was read.
    let changeCount: Int
    fileprivate let flight: GenerationFlight
}

/// A resource in flight: until this object is released, the counter records the changes of the resource.
private final class GenerationFlight: Sendable {
    private let resource: ResourceKey
    private let counter: GenerationCounter

    init(of resource: ResourceKey, in counter: GenerationCounter) {
        (self.resource, self.counter) = (resource, counter)
    }

    deinit { counter.endFlight(resource) }
}

extension Generation? {
    /// Returns the generation for the store of work that joined other work. The resource may have changed before the
    /// joining work began and after the joined one did. Without a joined generation, returns this one.
    func joining(_ earlier: Generation?) -> Generation? {
        guard let self, let earlier, earlier.changeCount < self.changeCount else { return self }
        return earlier
    }
}

/// A change of a resource by the pipeline itself, such as the removal of its images.
struct GenerationStep: Sendable {
    /// The number of the resource's last change before this one.
    let lastChangeBefore: Int
    /// The generation after the change, or nil if another change of the resource was in progress.
    let after: Generation?

    /// Returns the generation after the change for work that began before it, or nil if the resource had changed in
    /// other ways since the work began.
    func carrying(_ generation: Generation?) -> Generation? {
        guard let generation, lastChangeBefore <= generation.changeCount else { return nil }
        return after
    }
}

/// The changes in progress, and the numbers of the last changes of the resources in flight. A pure state machine: it
/// never awaits and makes no calls to other objects.
private struct GenerationState: Sendable {
    /// A function that returns when a change has ended.
    typealias End = @Sendable () async -> Void

    private struct Change: Sendable {
        var id: Int
        var end: End
    }

    private struct Flight: Sendable {
        /// The number of generations.
        var count = 0
        var lastChange: Int
    }

    private var lastID = 0
    /// The last change of each resource, if it has not ended.
    private var latest: [ResourceKey: Change] = [:]
    /// The last change of all resources, if it has not ended. The changes in ``latest`` were submitted after it.
    private var latestOfAll: Change?
    /// The number of changes, which is the number of the last one.
    private var changeCount = 0
    /// The resources of which a generation exists.
    private var flights: [ResourceKey: Flight] = [:]

    /// Returns the changes that a new change of `scope` waits for. A change of all resources waits for all earlier
    /// changes.
    func predecessors(of scope: ChangeScope) -> [End] {
        switch scope {
        case .resource(let resource):
            guard let change = latest[resource] ?? latestOfAll else { return [] }
            return [change.end]
        case .everything: return (latest.values + [latestOfAll].compactMap { $0 }).map(\.end)
        }
    }

    /// Records a change of `scope`. Earlier generations are then no longer current.
    mutating func recordChange(of scope: ChangeScope) {
        changeCount += 1
        switch scope {
        case .resource(let resource): flights[resource]?.lastChange = changeCount
        case .everything: for resource in flights.keys { flights[resource]?.lastChange = changeCount }
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

    /// Begins a flight, which ``endFlight(_:)`` ends. Returns the numbers of the resource's generation. Begins none,
    /// and returns nil, while a change of the resource is in progress.
    mutating func beginFlight(_ resource: ResourceKey) -> (lastChange: Int, changeCount: Int)? {
        guard latestOfAll == nil, latest[resource] == nil else { return nil }
        let lastChange = lastChange(of: resource)
        flights[resource, default: Flight(lastChange: lastChange)].count += 1
        return (lastChange, changeCount)
    }

    mutating func endFlight(_ resource: ResourceKey) {
        flights[resource]?.count -= 1
        if flights[resource]?.count == 0 { flights[resource] = nil }
    }

    /// Returns whether the resource has not changed since the generation. Generations are read between changes, and
    /// each change is counted when it is submitted.
    func isUnchanged(_ resource: ResourceKey, since generation: Generation) -> Bool {
        lastChange(of: resource) <= generation.changeCount
    }

    /// Returns the number of the last change of a resource. Without a generation of it, any change may have been one of
    /// this resource.
    func lastChange(of resource: ResourceKey) -> Int { flights[resource]?.lastChange ?? changeCount }
}
