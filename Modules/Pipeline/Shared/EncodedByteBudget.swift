import AlcedoCore
import AlcedoRuntime

/// The encoded bytes that are here, or on their way, and wait for a decoder. While they are too many, no further ones are
/// fetched.
///
/// How many will come is known when they have come: until then as many count as the last ones had.
final class EncodedByteBudget: Sendable {
    private let limit: Int
    private let budget: ByteBudget
    /// A mean in which the newest weighs a quarter.
    private let mean: Locked<Int?> = Locked(nil)

    /// - Parameter limit: Bytes from which on nothing more is begun.
    init(limit: Int) {
        self.limit = max(0, limit)
        budget = ByteBudget(limit: limit)
    }

    /// Waits for room, the more urgent first, and returns how many bytes are reserved. Throws `CancellationError` only.
    func reserveExpected(_ priority: PriorityHandle) async throws -> Int {
        // Before any has come, a transfer that waits for its server must not hold up many others.
        let expected = min(mean.withLock { $0 } ?? limit / 256, limit)
        try await budget.reserve(expected, priority: priority)
        return expected
    }

    /// Waits for room as ``reserveExpected(_:)`` does, and takes none. Throws `CancellationError` only.
    func waitForAdmission(_ priority: PriorityHandle) async throws { release(try await reserveExpected(priority)) }

    /// Counts bytes that have come, whether there is room or not.
    func reserveArrived(_ byteCount: Int) {
        mean.withLock { mean in mean = mean.map { $0 + (byteCount - $0) / 4 } ?? byteCount }
        budget.reserveUnconditionally(byteCount)
    }

    func release(_ byteCount: Int) { budget.release(byteCount) }
}

/// The bytes of one image in the ``EncodedByteBudget``: first as many as are expected, then those that have come, until it is let go.
final class EncodedByteReservation: Sendable {
    private struct State: Sendable {
        var reserved: Int?
        var isReleased = false
    }

    private let budget: EncodedByteBudget
    private let state = Locked(State())

    /// A place for bytes of which there are none yet.
    init(of budget: EncodedByteBudget) { self.budget = budget }

    deinit { release() }

    /// Returns when the bytes may be fetched. Throws `CancellationError` only.
    func waitForAdmission(_ priority: PriorityHandle) async throws {
        replace(with: try await budget.reserveExpected(priority))
    }

    /// The bytes have come. Returns itself.
    func arrived(_ byteCount: Int) -> EncodedByteReservation {
        budget.reserveArrived(byteCount)
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
        if let reserved { budget.release(reserved) }
    }

    private func replace(with byteCount: Int) {
        let given = state.withLock { state -> Int? in
            guard !state.isReleased else { return byteCount }
            defer { state.reserved = byteCount }
            return state.reserved
        }
        if let given { budget.release(given) }
    }
}
