import AlcedoCore
import AlcedoRuntime
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoSQLiteCache

/// SQLite gives the row identifier of a removed entry to a new one, also while the removed entry is being read.
@Suite(.timeLimit(.minutes(10)))
struct UseTests {
    private let directory: TemporaryDirectory
    private let old = CachedData(bytes(10), expiry: Timestamp(Date().addingTimeInterval(60)).date)
    private let new = CachedData(bytes(20))
    private let now = Timestamp(Date())

    init() throws { directory = try TemporaryDirectory() }

    private func later(by milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: now.milliseconds + milliseconds)
    }

    /// Returns the use of a row that was read at the date of its use.
    private func use(of row: EntryRow, _ entry: CachedData, _ name: String, recency: Int64) -> PendingUses.Use {
        let times = EntryTimes(stored: row.times.stored, used: later(by: 2), expiry: row.times.expiry)
        return PendingUses.Use(
            recency: recency, read: row.checksum, times: times, checksum: EntryChecksum(of: entry, for: key(name)))
    }

    /// The new entry may be stored in the same millisecond.
    @Test(arguments: [0, 1] as [Int64])
    func `a use is written to the entry that was read, not to one with its old row identifier`(delay: Int64)
        async throws
    {
        var file = DatabaseFile.writer(directory.url)
        try file.perform(makesFile: true) { changes in
            _ = try changes.store(old, for: key("a"), recency: 1, at: now, limit: .max)
            let read = try #require(try changes.queries.row(named: key("a").fileName))
            #expect(try changes.remove(key("a").fileName))
            _ = try changes.store(new, for: key("b"), recency: 2, at: later(by: delay), limit: .max)
            let stored = try #require(try changes.queries.row(named: key("b").fileName))
            try #require(stored.id == read.id)

            try changes.write([read.id: use(of: read, old, "a", recency: 3)])

            let unchanged = try #require(try changes.queries.row(named: key("b").fileName))
            #expect(unchanged.recency == 2)
            #expect(unchanged.times == stored.times)
            try changes.write([stored.id: use(of: stored, new, "b", recency: 4)])
            let used = try #require(try changes.queries.row(named: key("b").fileName))
            #expect(used.recency == 4)
            #expect(used.times.used == later(by: 2))
            // Another process may have used the entry later by its clock.
            try changes.write([used.id: use(of: used, new, "b", recency: 3)])
            #expect(try changes.queries.row(named: key("b").fileName)?.recency == 4)
        }
        file.close()

        #expect(await SQLiteDiskCache(directory: directory.url).entry(for: key("b")) == new)
    }

    @Test func `an unwritten use gives its dates to the entry that was read, and to no other`() {
        var uses = PendingUses()
        let read = EntryTimes(stored: now, used: now, expiry: later(by: 60_000))
        let stored = EntryTimes(stored: now, used: now)
        let used = EntryTimes(stored: now, used: later(by: 2), expiry: later(by: 90_000))

        uses.use(1, read: 7, times: used, EntryChecksum(of: old, for: key("a")))

        #expect(uses.times(of: 1, checksum: 7, times: read) == used)
        #expect(uses.times(of: 1, checksum: 8, times: stored) == stored)
    }
}
