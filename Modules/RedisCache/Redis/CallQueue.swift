/// Decides which calls wait for a thread, and which had better be misses at once: a server that answers, but more slowly
/// than it is asked, would make all wait. Decides only: it knows neither threads nor clocks.
struct CallQueue: Sendable {
    /// What becomes of a call.
    enum Place {
        /// A thread is free.
        case free
        /// It waits.
        case line
        /// It would wait for too long.
        case refused
    }

    /// The last call makes a quarter of the usual time of one.
    private static let weight = 4

    private let threads: Int
    private let patience: Duration
    private var count = 0
    private var usualTime = Duration.zero

    /// - Parameters:
    ///   - threads: How many calls are under way at most; values below 1 count as 1.
    ///   - patience: The longest a call may be expected to wait.
    init(threads: Int, patience: Duration) {
        self.threads = max(1, threads)
        self.patience = patience
    }

    /// To be asked for each call; one that has a place is to leave it.
    mutating func enter() -> Place {
        if count >= threads {
            guard usualTime * (count - threads + 1) / threads <= patience else { return .refused }
        }
        defer { count += 1 }
        return count < threads ? .free : .line
    }

    /// For a call that waits as long as it takes. It is to leave, too.
    mutating func enterAnyway() { count += 1 }

    /// - Parameter time: How long the server was asked; nil when it was not.
    mutating func leave(after time: Duration? = nil) {
        count -= 1
        // A call of many parts is not what the others wait for, so that it counts no more than one that just comes through.
        if let time { usualTime += (min(time, patience) - usualTime) / Self.weight }
    }
}
