import Alcedo

/// Lets in as many requests as there may be at once, and sends the others away.
final class Admission: Sendable {
    private let limit: Int
    private let count = Locked(0)

    init(limit: Int) { self.limit = limit }

    var current: Int { count.withLock { $0 } }

    /// Whether there is room; it is taken then, until ``leave()``.
    func enter() -> Bool {
        count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
    }

    func leave() { count.withLock { $0 -= 1 } }
}
