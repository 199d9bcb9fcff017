import Alcedo

/// Counts what went over a transport since the last beginning.
final class ExchangeTally: Sendable {
    struct Counts: Sendable {
        /// Requests.
        var asked = 0
        /// Answers, whatever their status.
        var answered = 0
        /// Answers that a response cache on the way gave, or had confirmed.
        var stored = 0
        /// Of the bodies of the answers, as far as they were read.
        var byteCount = 0
    }

    private let current = Locked(Counts())

    var counts: Counts { current.withLock { $0 } }

    func begin() { current.withLock { $0 = Counts() } }

    func change(_ change: (inout Counts) -> Void) { current.withLock { change(&$0) } }
}
