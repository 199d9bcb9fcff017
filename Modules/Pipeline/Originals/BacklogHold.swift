import AlcedoCore

/// The bytes of one image in the ``Backlog``: first as many as are expected, then those that have come, until it is let go.
final class BacklogHold: Sendable {
    private struct State: Sendable {
        var reserved: Int?
        var isReleased = false
    }

    private let backlog: Backlog
    private let state = Locked(State())

    /// A place for bytes of which there are none yet.
    init(of backlog: Backlog) { self.backlog = backlog }

    deinit { release() }

    /// Returns when the bytes may be fetched. Throws `CancellationError` only.
    func waitForRoom(_ priority: LivePriority) async throws {
        replace(with: try await backlog.reserveExpected(priority))
    }

    /// The bytes have come. Returns itself.
    func arrived(_ byteCount: Int) -> BacklogHold {
        backlog.reserveArrived(byteCount)
        replace(with: byteCount)
        return self
    }

    /// Counts nothing any more, though the bytes may still be held. Only the first call does anything.
    func release() {
        let reserved = state.withLock { state in
            state.isReleased = true
            defer { state.reserved = nil }
            return state.reserved
        }
        if let reserved { backlog.release(reserved) }
    }

    private func replace(with byteCount: Int) {
        let given = state.withLock { state -> Int? in
            guard !state.isReleased else { return byteCount }
            defer { state.reserved = byteCount }
            return state.reserved
        }
        if let given { backlog.release(given) }
    }
}
