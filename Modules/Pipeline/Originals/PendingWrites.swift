import AlcedoCore
import Synchronization

/// Writes that go on behind the loads, up to a number of bytes; those under one key in the order they came.
final class PendingWrites: Sendable {
    private struct State: Sendable {
        var byteCount = 0
        var writes: [Int: Task<Void, Never>] = [:]
        /// The last write under each key.
        var latest: [ImageKey: Int] = [:]
        var lastID = 0
    }

    /// What a write takes beside its bytes, its task and those of the cache above all. Measured: 4 KiB with the disk cache
    /// on files.
    private static let overhead = 4 << 10

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) { self.limit = limit }

    /// Starts `write` and returns; when too many bytes wait already, returns after it.
    ///
    /// - Parameter byteCount: Bytes that `write` holds.
    func submit(_ key: ImageKey, byteCount: Int, _ write: @escaping @Sendable () async -> Void) async {
        let byteCount = byteCount + Self.overhead
        // The lock is held while the task is made, so that it cannot end before it is remembered.
        let awaited = state.withLock { state -> Task<Void, Never>? in
            let isFull = state.byteCount + byteCount > limit
            let previous = state.latest[key].flatMap { state.writes[$0] }
            state.byteCount += byteCount
            state.lastID += 1
            let id = state.lastID
            let task = Task {
                // What was loaded later must not be overwritten by what was loaded before.
                await previous?.value
                await write()
                self.finish(id, key, byteCount: byteCount)
            }
            state.latest[key] = id
            state.writes[id] = task
            return isFull ? task : nil
        }
        await awaited?.value
    }

    /// Returns when every write submitted so far has ended.
    func flush() async {
        for write in state.withLock({ Array($0.writes.values) }) { await write.value }
    }

    private func finish(_ id: Int, _ key: ImageKey, byteCount: Int) {
        state.withLock { state in
            state.writes[id] = nil
            state.byteCount -= byteCount
            if state.latest[key] == id { state.latest[key] = nil }
        }
    }
}
