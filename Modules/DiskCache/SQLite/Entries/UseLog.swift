import AlcedoCore
import AlcedoRuntime

/// The one ledger of a cache's uses, for all of its threads.
final class UseLog: Sendable {
    private let uses = Locked(PendingUses())

    func observe(recency: Int64) { uses.withLock { $0.observe(recency: recency) } }

    func nextRecency(at now: Timestamp) -> Int64 { uses.withLock { $0.nextRecency(at: now) } }

    /// Notes a use of an entry. Returns whether it is time to write.
    func use(_ id: Int64, times: EntryTimes) -> Bool {
        uses.withLock { uses in
            uses.use(id, times: times)
            return uses.isFull
        }
    }

    /// The times of a row, uses that are not in it included.
    func times(of id: Int64, recency: Int64, times: EntryTimes) -> EntryTimes {
        uses.withLock { $0.times(of: id, recency: recency, times: times) }
    }

    var isEmpty: Bool { uses.withLock { $0.isEmpty } }

    func takeAll() -> [Int64: PendingUses.Use] { uses.withLock { $0.takeAll() } }
}

/// Uses that are not in the database yet, so that a read costs no write. Decides the order of uses; touches no file.
///
/// An entry's recency is the date in microseconds, or one more than the highest before, whichever is greater: exact in
/// one process however its clock is set, and as good as the clock between processes.
struct PendingUses: Sendable {
    struct Use: Sendable {
        var recency: Int64
        var times: EntryTimes
    }

    /// Entries used, beyond which it is time to write.
    static let capacity = 64

    private var uses: [Int64: Use] = [:]
    private var highest: Int64 = 0

    var isEmpty: Bool { uses.isEmpty }
    var isFull: Bool { uses.count >= Self.capacity }

    /// Notes how far the database is.
    mutating func observe(recency: Int64) {
        // What no date of this age can be is damage.
        if recency < .max / 2 { highest = max(highest, recency) }
    }

    /// The recency of an entry that is used now.
    mutating func nextRecency(at now: Timestamp) -> Int64 {
        highest = max(highest + 1, now.milliseconds * 1_000)
        return highest
    }

    /// Notes a use of an entry.
    mutating func use(_ id: Int64, times: EntryTimes) {
        uses[id] = Use(recency: nextRecency(at: times.used), times: times)
    }

    /// The times of a row, uses that are not in it included.
    func times(of id: Int64, recency: Int64, times: EntryTimes) -> EntryTimes {
        // The row of a number that was given again was stored later than its use.
        guard let use = uses[id], use.recency > recency else { return times }
        return EntryTimes(stored: times.stored, used: use.times.used, expiry: use.times.expiry)
    }

    /// Returns what is to be written, and forgets it.
    mutating func takeAll() -> [Int64: Use] {
        defer { uses = [:] }
        return uses
    }
}
