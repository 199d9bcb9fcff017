import Synchronization

/// Grants one write, however many ask.
final class WriteClaim: Sendable {
    private let claim = Atomic<Bool>(false)

    /// Whether somebody has it.
    var isTaken: Bool { claim.load(ordering: .relaxed) }

    /// True for the first caller only.
    func take() -> Bool { !claim.exchange(true, ordering: .relaxed) }
}
