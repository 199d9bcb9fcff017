import AlcedoCore
import AlcedoRuntime

/// The uses of a cache's entries that are not in the database yet, shared by its threads. One write stores many uses,
/// so few reads cause a write. The log determines the order of uses.
///
/// The recency of a use is the date in microseconds, or the highest recency so far plus one, whichever is greater. So
/// the order is exact within a cache instance, however its clock is set. Between instances, it depends on their clocks.
final class UseLog: Sendable {
    struct Use: Sendable {
        var recency: Int64
        /// The checksum with which the entry was read. It identifies the entry, because SQLite may give the row
        /// identifier of a removed entry to another one, even before a read of the first one records its use.
        var read: Int64
        var times: EntryTimes
        var checksum: EntryChecksum
    }

    private struct State: Sendable {
        var uses: [Int64: Use] = [:]
        var highest: Int64 = 0

        mutating func nextRecency(at now: Timestamp) -> Int64 {
            highest = max(highest + 1, now.milliseconds * 1_000)
            return highest
        }
    }

    /// The number of used entries at which the uses should be written to the database.
    private static let capacity = 64

    private let state = Locked(State())

    var isEmpty: Bool { state.withLock { $0.uses.isEmpty } }

    /// Raises the highest recency to a recency from the database, if that is greater.
    func observe(recency: Int64) {
        // A recency that no date can have is damaged.
        if recency < .max / 2 { state.withLock { $0.highest = max($0.highest, recency) } }
    }

    /// Returns the recency of an entry that is used now.
    func nextRecency(at now: Timestamp) -> Int64 { state.withLock { $0.nextRecency(at: now) } }

    /// Records a use of the entry in a row, with its times after the use. Returns whether the uses should be written
    /// now.
    func use(_ row: EntryRow, times: EntryTimes, _ checksum: EntryChecksum) -> Bool {
        state.withLock { state in
            let recency = state.nextRecency(at: times.used)
            state.uses[row.id] = Use(recency: recency, read: row.checksum, times: times, checksum: checksum)
            return state.uses.count >= Self.capacity
        }
    }

    /// Returns the times of an entry, including an unwritten use. A use by another process that is in the database
    /// replaces it.
    func times(of id: Int64, checksum: Int64, times: EntryTimes) -> EntryTimes {
        guard let use = state.withLock({ $0.uses[id] }), use.read == checksum else { return times }
        return use.times
    }

    /// Returns the unwritten uses, and clears them.
    func takeAll() -> [Int64: Use] {
        state.withLock { state in
            defer { state.uses = [:] }
            return state.uses
        }
    }
}
