import AlcedoCore
import AlcedoRuntime
import Synchronization

/// A queue of background writes, up to a number of bytes. Writes under the same key run in order, and a barrier orders
/// all writes of a resource.
///
/// When no write ends within the timeout of a waiter, the disk is treated as stalled until a write ends: callers do not
/// wait, and writes beyond the limit are rejected. Writes whose encoder hangs have the same effect, although barriers
/// end meanwhile.
final class DiskWriteQueue: Sendable {
    /// Returns the entry of a write, or nil if it must no longer be stored. Called outside the lock.
    typealias PendingEntry = @Sendable () -> CachedData?

    private struct State: Sendable {
        var byteCount = 0
        var writes: [Int: (key: ImageKey, task: Task<Void, Never>, entry: PendingEntry?)] = [:]
        /// The ID of the last write under each key.
        var latest: [ImageKey: Int] = [:]
        /// The ID of the last barrier of each resource.
        var barriers: [ResourceKey: Int] = [:]
        var lastID = 0
        var endedCount = 0
        var isStalled = false
    }

    /// The outcome of submitting a write.
    private enum Admission {
        case rejected
        case started
        case startedOverLimit(Task<Void, Never>)
    }

    /// The memory of a write beyond its bytes, mainly its task and the tasks of the cache. Measured: 4 KiB with the
    /// disk cache of files.
    private static let overhead = 4 << 10

    private let limit: Int
    private let timeout: Duration
    private let clock: any TimeSource
    private let taskExecutor: (any TaskExecutor)?
    private let state = Locked(State())

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - limit: The number of pending bytes up to which callers do not wait.
    ///   - timeout: The maximum time that a caller waits for one write.
    ///   - clock: The clock that measures the timeout.
    ///   - taskExecutor: The executor of the writes, or nil for Swift's own.
    init(limit: Int, timeout: Duration, clock: any TimeSource, taskExecutor: (any TaskExecutor)?) {
        self.limit = limit
        self.timeout = timeout
        self.clock = clock
        self.taskExecutor = taskExecutor
    }

    /// Starts `write` and returns. Beyond the limit, returns when the write has ended or timed out.
    ///
    /// - Parameters:
    ///   - key: The key of the entry.
    ///   - byteCount: The number of bytes that `write` holds.
    ///   - entry: Returns the entry that ``pendingEntry(for:)`` returns until the write ends. Default: nil.
    ///   - write: The write.
    /// - Returns: False when the disk is stalled and the limit is reached. The write is then not started.
    func submit(
        _ key: ImageKey, byteCount: Int, entry: PendingEntry? = nil, _ write: @escaping @Sendable () async -> Void
    ) async -> Bool {
        switch admit(key, byteCount: byteCount + Self.overhead, entry, write) {
        case .rejected: return false
        case .started: return true
        case .startedOverLimit(let task):
            await wait(for: task)
            return true
        }
    }

    /// Returns the entry of the last write under a key, if it has not ended.
    func pendingEntry(for key: ImageKey) -> CachedData? {
        state.withLock { state in state.latest[key].flatMap { state.writes[$0]?.entry } }?()
    }

    /// Starts a change of a whole resource, regardless of the limit, and returns. The change runs after the writes of
    /// the resource that were submitted before, and before all later ones.
    ///
    /// - Parameters:
    ///   - key: The key of an entry of the resource.
    ///   - change: The change.
    func submitBarrier(_ key: ImageKey, _ change: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            let earlier = state.writes.values.filter { $0.key.resource == key.resource }.map(\.task)
            _ = start(key, byteCount: Self.overhead, nil, after: earlier, isBarrier: true, &state, change)
            state.barriers[key.resource] = state.lastID
        }
    }

    /// Returns when all writes submitted so far have ended or timed out, or when the disk is stalled.
    ///
    /// - Parameter resource: The resource whose writes are waited for; nil for all.
    func flush(_ resource: ResourceKey? = nil) async {
        let writes = state.withLock { state in
            state.writes.filter { resource == nil || $0.value.key.resource == resource }.sorted { $0.key < $1.key }
        }
        for write in writes {
            guard !state.withLock({ $0.isStalled }) else { return }
            await wait(for: write.value.task)
        }
    }

    /// Returns when the last write under a key has ended or timed out, or when the disk is stalled.
    func flushEntry(_ key: ImageKey) async {
        let write = state.withLock { state in
            state.isStalled ? nil : state.latest[key].flatMap { state.writes[$0] }
        }
        if let write { await wait(for: write.task) }
    }

    private func admit(
        _ key: ImageKey, byteCount: Int, _ entry: PendingEntry?, _ write: @escaping @Sendable () async -> Void
    ) -> Admission {
        state.withLock { state in
            let isFull = state.byteCount + byteCount > limit
            guard !isFull || !state.isStalled else { return .rejected }
            // An older load must not overwrite a newer one.
            let earlier = [state.latest[key], state.barriers[key.resource]].compactMap { id in
                id.flatMap { state.writes[$0]?.task }
            }
            let task = start(key, byteCount: byteCount, entry, after: earlier, &state, write)
            return isFull ? .startedOverLimit(task) : .started
        }
    }

    /// Starts a write. It is called under the lock, so that the write cannot finish before it is recorded.
    private func start(
        _ key: ImageKey, byteCount: Int, _ entry: PendingEntry?, after earlier: [Task<Void, Never>],
        isBarrier: Bool = false, _ state: inout State, _ write: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        state.byteCount += byteCount
        state.lastID += 1
        let id = state.lastID
        let task = Task(executorPreference: taskExecutor) {
            for write in earlier { await write.value }
            await write()
            self.finish(id, key, byteCount: byteCount, isBarrier: isBarrier)
        }
        state.latest[key] = id
        state.writes[id] = (key, task, entry)
        return task
    }

    private func wait(for write: Task<Void, Never>) async {
        let before = state.withLock { $0.endedCount }
        let timer = Task(executorPreference: taskExecutor) { [clock, timeout] in try await clock.sleep(for: timeout) }
        Task(executorPreference: taskExecutor) {
            await write.value
            timer.cancel()
        }
        guard case .success = await timer.result else { return }
        state.withLock { state in
            if state.endedCount == before, !state.writes.isEmpty { state.isStalled = true }
        }
    }

    private func finish(_ id: Int, _ key: ImageKey, byteCount: Int, isBarrier: Bool) {
        state.withLock { state in
            state.writes[id] = nil
            state.byteCount -= byteCount
            // A change that ends makes no room for writes.
            if !isBarrier { state.endedCount += 1 }
            if !isBarrier || state.writes.isEmpty { state.isStalled = false }
            if state.latest[key] == id { state.latest[key] = nil }
            if state.barriers[key.resource] == id { state.barriers[key.resource] = nil }
        }
    }
}
