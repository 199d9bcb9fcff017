import AlcedoCore
import AlcedoRuntime

/// The unwritten uses of a cache's entries, shared by its threads.
final class UseLog: Sendable {
    private let uses = Locked(PendingUses())

    func observe(recency: Int64) { uses.withLock { $0.observe(recency: recency) } }

    func nextRecency(at now: Timestamp) -> Int64 { uses.withLock { $0.nextRecency(at: now) } }

    /// Records a use of an entry that was read with a checksum. Returns whether the uses should be written now.
    func use(_ id: Int64, read: Int64, times: EntryTimes, _ checksum: EntryChecksum) -> Bool {
        uses.withLock { uses in
            uses.use(id, read: read, times: times, checksum)
            return uses.isFull
        }
    }

    /// Returns the times of an entry, including unwritten uses.
    func times(of id: Int64, checksum: Int64, times: EntryTimes) -> EntryTimes {
        uses.withLock { $0.times(of: id, checksum: checksum, times: times) }
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
        /// The checksum with which the entry was read. It identifies the entry, because SQLite may give the row
        /// identifier of a removed entry to another one, even before a read of the first one records its use.
        var read: Int64
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

    /// Records a use of an entry that was read with a checksum.
    mutating func use(_ id: Int64, read: Int64, times: EntryTimes, _ checksum: EntryChecksum) {
        uses[id] = Use(recency: nextRecency(at: times.used), read: read, times: times, checksum: checksum)
    }

    /// Returns the times of an entry, including an unwritten use. A use by another process that is in the database
    /// replaces it.
    func times(of id: Int64, checksum: Int64, times: EntryTimes) -> EntryTimes {
        guard let use = uses[id], use.read == checksum else { return times }
        return use.times
    }

    /// Returns the unwritten uses, and clears them.
    mutating func takeAll() -> [Int64: Use] {
        defer { uses = [:] }
        return uses
    }
}
