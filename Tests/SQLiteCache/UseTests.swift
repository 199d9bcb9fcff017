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
    private func use(of row: EntryRow, _ entry: CachedData, _ name: String, recency: Int64) -> UseLog.Use {
        let times = EntryTimes(stored: row.times.stored, used: later(by: 2), expiry: row.times.expiry)
        return UseLog.Use(
            recency: recency, read: row.checksum, times: times, checksum: EntryChecksum(of: entry, for: key(name)))
    }

    /// The new entry may be stored in the same millisecond.
    @Test(arguments: [0, 1] as [Int64])
    func `a use is written to the entry that was read, not to one with its old row identifier`(delay: Int64)
        async throws
    {
        var file = DatabaseFile.writer(directory.url)
        try file.perform(makesFile: true) { table in
            func recency() throws -> Int64? {
                try table.connection.firstRow("SELECT recency FROM entry") { $0.integer(0) }
            }
            _ = try table.store(old, for: key("a"), recency: 1, at: now, limit: .max)
            let read = try #require(try table.row(named: key("a").fileName))
            #expect(try table.remove(key("a").fileName))
            _ = try table.store(new, for: key("b"), recency: 2, at: later(by: delay), limit: .max)
            let stored = try #require(try table.row(named: key("b").fileName))
            try #require(stored.id == read.id)

            try table.write([read.id: use(of: read, old, "a", recency: 3)])

            let unchanged = try #require(try table.row(named: key("b").fileName))
            #expect(try recency() == 2)
            #expect(unchanged.times == stored.times)
            try table.write([stored.id: use(of: stored, new, "b", recency: 4)])
            let used = try #require(try table.row(named: key("b").fileName))
            #expect(try recency() == 4)
            #expect(used.times.used == later(by: 2))
            // Another process may have used the entry later by its clock.
            try table.write([used.id: use(of: used, new, "b", recency: 3)])
            #expect(try recency() == 4)
        }
        file.close()

        #expect(await SQLiteDiskCache(directory: directory.url).entry(for: key("b")) == new)
    }

    @Test func `an unwritten use gives its dates to the entry that was read, and to no other`() throws {
        let uses = UseLog()
        var file = DatabaseFile.writer(directory.url)
        try file.store(old, for: key("a"))
        let row = try #require(try file.perform(makesFile: false) { try $0.row(named: key("a").fileName) } ?? nil)
        let stored = EntryTimes(stored: now, used: now)
        let used = EntryTimes(stored: now, used: later(by: 2), expiry: later(by: 90_000))

        _ = uses.use(row, times: used, EntryChecksum(of: old, for: key("a")))

        #expect(uses.times(of: row.id, checksum: row.checksum, times: row.times) == used)
        #expect(uses.times(of: row.id, checksum: row.checksum &+ 1, times: stored) == stored)
    }
}
