import AlcedoCore

/// The encoded bytes that are here and wait for a decoder, or for their place on disk. While they are too many, no
/// further ones are fetched.
final class Backlog: Sendable {
    private let budget: ByteBudget

    /// - Parameter limit: Bytes from which on nothing more is begun; what has begun by then still comes.
    init(limit: Int) { budget = ByteBudget(limit: limit) }

    /// Returns when more may be fetched, the more urgent first. Throws `CancellationError` only.
    func waitForRoom(_ priority: LivePriority) async throws {
        try await budget.withReservation(of: 1, priority: priority) {}
    }

    /// Counts bytes that have come, for as long as the result is held.
    func hold(_ byteCount: Int) -> BacklogHold { BacklogHold(byteCount, of: budget) }
}
