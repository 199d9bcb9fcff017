import AlcedoCore
import AlcedoRuntime

/// A budget of the encoded bytes that are being downloaded or wait for a decoder. Beyond its limit, no further
/// downloads and disk reads begin.
///
/// The size of a transfer is known when it has ended. Until then, it counts with the mean size of recent transfers.
final class EncodedByteBudget: Sendable {
    private let limit: Int
    private let budget: ByteBudget
    private let turns: DecodingTurns?
    /// The mean size of transfers, in which the newest has a weight of one quarter.
    private let mean: Locked<Int?> = Locked(nil)

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - limit: The number of bytes at which no further transfer begins.
    ///   - turns: The rule by which groups of images take turns. Default: nil, the order of arrival.
    init(limit: Int, turns: DecodingTurns? = nil) {
        self.limit = max(0, limit)
        self.turns = turns
        budget = ByteBudget(limit: limit)
    }

    /// Returns the group of a request, whose transfers take turns with those of others; nil for none.
    func group(of request: ImageRequest) -> String? { turns?.group(request) }

    /// Waits for admission, higher priorities first, then groups without a reservation. Reserves the expected size of a
    /// transfer, and returns it in bytes. Throws `CancellationError` only.
    func reserveExpected(_ priority: PriorityHandle, group: String? = nil) async throws -> Int {
        // Before the first transfer has ended, a small estimate lets many transfers begin while one waits for its
        // server.
        let expected = min(mean.withLock { $0 } ?? limit / 256, limit)
        try await budget.reserve(expected, priority: priority, group: group)
        return expected
    }

    /// Waits for admission as ``reserveExpected(_:)`` does, and reserves nothing. Throws `CancellationError` only.
    func waitForAdmission(_ priority: PriorityHandle) async throws { release(try await reserveExpected(priority)) }

    /// Reserves bytes that have been received, even beyond the limit, and includes their number in the mean size of
    /// transfers.
    func reserveArrived(_ byteCount: Int, group: String? = nil) {
        mean.withLock { mean in mean = mean.map { $0 + (byteCount - $0) / 4 } ?? byteCount }
        budget.reserveUnconditionally(byteCount, group: group)
    }

    func release(_ byteCount: Int, group: String? = nil) { budget.release(byteCount, group: group) }
}

/// The reservation of one image in an ``EncodedByteBudget``: first for the expected bytes, then for the received ones,
/// until its release.
final class EncodedByteReservation: Sendable {
    private struct State: Sendable {
        var reserved: Int?
        var isReleased = false
    }

    private let budget: EncodedByteBudget
    private let group: String?
    private let state = Locked(State())

    /// Creates a reservation of no bytes. Reservations for a request with a group take turns with those of others.
    init(of budget: EncodedByteBudget, for request: ImageRequest? = nil) {
        self.budget = budget
        group = request.flatMap { budget.group(of: $0) }
    }

    deinit { release() }

    /// Waits until the transfer may begin, and reserves its expected size. Throws `CancellationError` only.
    func waitForAdmission(_ priority: PriorityHandle) async throws {
        replace(with: try await budget.reserveExpected(priority, group: group))
    }

    /// Replaces the expected bytes by the received ones. Returns this reservation.
    func arrived(_ byteCount: Int) -> EncodedByteReservation {
        budget.reserveArrived(byteCount, group: group)
        replace(with: byteCount)
        return self
    }

    /// Releases the reservation, although the bytes may still be held. Only the first call has an effect.
    func release() {
        let reserved = state.withLock { state in
            state.isReleased = true
            defer { state.reserved = nil }
            return state.reserved
        }
        if let reserved { budget.release(reserved, group: group) }
    }

    private func replace(with byteCount: Int) {
        let releasedByteCount = state.withLock { state -> Int? in
            guard !state.isReleased else { return byteCount }
            defer { state.reserved = byteCount }
            return state.reserved
        }
        if let releasedByteCount { budget.release(releasedByteCount, group: group) }
    }
}
