import AlcedoCore
import Synchronization

/// Bytes that count as waiting, until it is let go.
final class BacklogHold: Sendable {
    private let budget: ByteBudget
    private let byteCount: Int
    private let isReleased = Atomic<Bool>(false)

    init(_ byteCount: Int, of budget: ByteBudget) {
        (self.budget, self.byteCount) = (budget, byteCount)
        budget.reserveAnyway(byteCount)
    }

    deinit { release() }

    /// Counts them no more, though they are still held. Only the first call does anything.
    func release() {
        if !isReleased.exchange(true, ordering: .relaxed) { budget.release(byteCount) }
    }
}
