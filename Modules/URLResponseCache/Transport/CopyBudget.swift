import AlcedoCore

/// A number of bytes that all bodies on their way into the store share.
final class CopyBudget: Sendable {
    private let left: Locked<Int>

    init(byteCount: Int) { left = Locked(max(0, byteCount)) }

    /// Takes bytes if they are there.
    func take(_ count: Int) -> Bool {
        left.withLock { left in
            guard count <= left else { return false }
            left -= count
            return true
        }
    }

    func giveBack(_ count: Int) { left.withLock { $0 += count } }
}
