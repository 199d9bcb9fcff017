import AlcedoCore
import AlcedoRuntime
import Synchronization

/// Writes that go on behind the loads, up to a number of bytes; those under one key in the order they came.
///
/// A disk that has ended no write for so long that somebody who waited gave up counts as stopped: nobody waits for it any
/// more, and what does not fit is left out, until it ends a write.
final class DiskWriteQueue: Sendable {
    private struct State: Sendable {
        var byteCount = 0
        var writes: [Int: Task<Void, Never>] = [:]
        /// The last write under each key.
        var latest: [ImageKey: Int] = [:]
        var lastID = 0
        var endedCount = 0
        var isStalled = false
    }

    /// What becomes of a write.
    private enum Admission {
        case rejected
        case started
        case startedOverLimit(Task<Void, Never>)
    }

    /// What a write takes beside its bytes, its task and those of the cache above all. Measured: 4 KiB with the disk cache
    /// on files.
    private static let overhead = 4 << 10

    private let limit: Int
    private let timeout: Duration
    private let clock: any TimeSource
    private let taskExecutor: (any TaskExecutor)?
    private let state = Locked(State())

    /// - Parameters:
    ///   - limit: Bytes up to which nobody waits.
    ///   - timeout: Longest time that anybody waits for one write.
    ///   - clock: Measures the timeout.
    ///   - taskExecutor: Runs the writes; nil is Swift's own executor.
    init(limit: Int, timeout: Duration, clock: any TimeSource, taskExecutor: (any TaskExecutor)?) {
        self.limit = limit
        self.timeout = timeout
        self.clock = clock
        self.taskExecutor = taskExecutor
    }

    /// Starts `write` and returns; when too many bytes wait already, returns after it, or when its time is up.
    ///
    /// - Parameter byteCount: Bytes that `write` holds.
    /// - Returns: False when the disk has stopped and there is no room: the write is not begun.
    func submit(_ key: ImageKey, byteCount: Int, _ write: @escaping @Sendable () async -> Void) async -> Bool {
        switch admit(key, byteCount: byteCount + Self.overhead, write) {
        case .rejected: return false
        case .started: return true
        case .startedOverLimit(let task):
            await wait(for: task)
            return true
        }
    }

    /// Returns when every write submitted so far has ended or its time is up, or the disk has stopped.
    func flush() async {
        for write in state.withLock({ Array($0.writes.values) }) {
            guard !state.withLock({ $0.isStalled }) else { return }
            await wait(for: write)
        }
    }

    /// Returns when the last write under a key has ended, or its time is up.
    func flushEntry(_ key: ImageKey) async {
        let write = state.withLock { state in
            state.isStalled ? nil : state.latest[key].flatMap { state.writes[$0] }
        }
        if let write { await wait(for: write) }
    }

    private func admit(
        _ key: ImageKey, byteCount: Int, _ write: @escaping @Sendable () async -> Void
    ) -> Admission {
        // The lock is held while the task is made, so that it cannot end before it is remembered.
        state.withLock { state in
            let isFull = state.byteCount + byteCount > limit
            guard !isFull || !state.isStalled else { return .rejected }
            let previous = state.latest[key].flatMap { state.writes[$0] }
            state.byteCount += byteCount
            state.lastID += 1
            let id = state.lastID
            let task = Task(executorPreference: taskExecutor) {
                // What was loaded later must not be overwritten by what was loaded before.
                await previous?.value
                await write()
                self.finish(id, key, byteCount: byteCount)
            }
            state.latest[key] = id
            state.writes[id] = task
            return isFull ? .startedOverLimit(task) : .started
        }
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

    private func finish(_ id: Int, _ key: ImageKey, byteCount: Int) {
        state.withLock { state in
            state.writes[id] = nil
            state.byteCount -= byteCount
            state.endedCount += 1
            state.isStalled = false
            if state.latest[key] == id { state.latest[key] = nil }
        }
    }
}
