import AlcedoCore
import AlcedoRuntime

/// The unwritten uses of a cache's entries, shared by its threads.
final class UseLog: Sendable {
    private let uses = Locked(PendingUses())

    func observe(recency: Int64) { uses.withLock { $0.observe(recency: recency) } }

    func nextRecency(at now: Timestamp) -> Int64 { uses.withLock { $0.nextRecency(at: now) } }

    /// Records a use of an entry. Returns whether the uses should be written now.
    func use(_ id: Int64, times: EntryTimes, _ checksum: EntryChecksum) -> Bool {
        uses.withLock { uses in
            uses.use(id, times: times, checksum)
            return uses.isFull
        }
    }

    /// Returns the times of an entry, including unwritten uses.
    func times(of id: Int64, recency: Int64, times: EntryTimes) -> EntryTimes {
        uses.withLock { $0.times(of: id, recency: recency, times: times) }
    }

    var isEmpty: Bool { uses.withLock { $0.isEmpty } }

    func takeAll() -> [Int64: PendingUses.Use] { uses.withLock { $0.takeAll() } }
}

/// The uses that are not in the database yet. One write stores many uses, so few reads cause a write. This type
/// determines the order of uses and performs no I/O.
///
/// The recency of a use is the date in microseconds, or the highest recency so far plus one, whichever is greater. So
/// the order is exact within a cache instance, however its clock is set. Between instances, it depends on their clocks.
struct PendingUses: Sendable {
    struct Use: Sendable {
        var recency: Int64
        var times: EntryTimes
        var checksum: EntryChecksum
    }

    /// The number of used entries at which the uses should be written to the database.
    static let capacity = 64

    private var uses: [Int64: Use] = [:]
    private var highest: Int64 = 0

    var isEmpty: Bool { uses.isEmpty }
    var isFull: Bool { uses.count >= Self.capacity }

    /// Raises the highest recency to a recency from the database, if that is greater.
    mutating func observe(recency: Int64) {
        // A recency that no date can have is damaged.
        if recency < .max / 2 { highest = max(highest, recency) }
    }

    /// Returns the recency of an entry that is used now.
    mutating func nextRecency(at now: Timestamp) -> Int64 {
        highest = max(highest + 1, now.milliseconds * 1_000)
        return highest
    }

    /// Records a use of an entry.
    mutating func use(_ id: Int64, times: EntryTimes, _ checksum: EntryChecksum) {
        uses[id] = Use(recency: nextRecency(at: times.used), times: times, checksum: checksum)
    }

    /// Returns the times of an entry, including unwritten uses.
    func times(of id: Int64, recency: Int64, times: EntryTimes) -> EntryTimes {
        // SQLite may reuse the row identifier of a removed entry, even before a read of that entry records its use. The
        // date of storing tells the two entries apart, and the recency a use from a later one in the database.
        guard let use = uses[id], use.recency > recency, use.times.stored == times.stored else { return times }
        return use.times
    }

    /// Returns the unwritten uses, and clears them.
    mutating func takeAll() -> [Int64: Use] {
        defer { uses = [:] }
        return uses
    }
}
