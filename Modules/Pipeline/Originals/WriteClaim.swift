import Synchronization

/// Grants one write, however many ask.
final class WriteClaim: Sendable {
    private let isTaken = Atomic<Bool>(false)

    /// True for the first caller only.
    func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}
