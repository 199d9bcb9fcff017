import AlcedoCore

/// Writes that go on behind the loads, up to a number of bytes.
final class PendingWrites: Sendable {
    private struct State: Sendable {
        var byteCount = 0
        var writes: [Int: Task<Void, Never>] = [:]
        var lastID = 0
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) { self.limit = limit }

    /// Starts `write` and returns; when too many bytes wait already, returns after it.
    func submit(byteCount: Int, _ write: @escaping @Sendable () async -> Void) async {
        let id = state.withLock { state -> Int? in
            guard state.byteCount + byteCount <= limit else { return nil }
            state.byteCount += byteCount
            state.lastID += 1
            return state.lastID
        }
        guard let id else { return await write() }
        // The lock is held while the task is made, so that it cannot end before it is remembered.
        state.withLock { state in
            state.writes[id] = Task {
                await write()
                self.state.withLock { state in
                    state.writes[id] = nil
                    state.byteCount -= byteCount
                }
            }
        }
    }

    /// Returns when every write submitted so far has ended.
    func flush() async {
        for write in state.withLock({ Array($0.writes.values) }) { await write.value }
    }
}
