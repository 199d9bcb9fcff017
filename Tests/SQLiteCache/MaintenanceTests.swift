import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoSQLiteCache

@Suite(.timeLimit(.minutes(10)))
struct MaintenanceTests {
    private let directory: TemporaryDirectory
    private let clock = ManualClock()
    private let cache: SQLiteDiskCache

    init() throws {
        directory = try TemporaryDirectory()
        cache = SQLiteDiskCache(directory: directory.url, clock: clock)
    }

    private func change(_ sql: String) throws {
        try Connection(path: directory.database.path, busyTimeout: 60_000).execute(sql)
    }

    @Test func `a listing has all values, the least recently used first`() async throws {
        let start = clock.now
        let expiry = start.addingTimeInterval(1_000)
        try await cache.store(CachedData(bytes(10), expiry: expiry), for: key("a"))
        clock.advance(by: .seconds(1))
        try await cache.store(bytes(50_000), for: key("b"))
        clock.advance(by: .seconds(1))
        _ = await cache.entry(for: key("a"))

        let items = await cache.items()

        #expect(items.map(\.name) == ["b", "a"].map { key($0).fileName })
        #expect(await items.reduce(0) { $0 + $1.size } == cache.totalSize)
        #expect(items.last?.storedAt == start)
        #expect(items.last?.lastUse == clock.now)
        #expect(items.last?.expiry == expiry)
        #expect(items.first?.expiry == nil)
    }

    @Test func `a cache with a size limit dates entries by its clock`() async throws {
        clock.advance(by: .seconds(1_000))
        let cache = SQLiteDiskCache(directory: directory.url, sizeLimit: 1 << 20, clock: clock)
        try await cache.store(bytes(10), for: key("a"))
        #expect(await cache.items().map(\.storedAt) == [clock.now])
    }

    @Test func `a name yields its key`() async throws {
        for key in [key("a"), key("ü\u{0}'", variant: "10 x 10"), key("", variant: "")] {
            try await cache.store(bytes(10), for: key)
            #expect(await cache.key(named: key.fileName) == key)
        }

        #expect(await cache.key(named: key("b").fileName) == nil)
        #expect(await cache.key(named: "") == nil)
        #expect(await cache.key(named: "'; --") == nil)
    }

    @Test func `removing a resource removes all its variants and nothing else`() async throws {
        for name in ["a", "b"] {
            for variant in ["", "small", "large"] {
                try await cache.store(bytes(10), for: key(name, variant: variant))
            }
        }

        #expect(await cache.removeAll(of: ResourceKey("a")) == 3)
        #expect(await cache.removeAll(of: ResourceKey("a")) == 0)

        #expect(await cache.count == 3)
        #expect(await cache.items().reduce(0) { $0 + $1.size } == cache.totalSize)
    }

    @Test func `a resource is found through an index`() async throws {
        try await cache.store(bytes(10), for: key("a"))
        let connection = try Connection(path: directory.database.path, busyTimeout: 60_000)
        let plan = try connection.rows(
            "EXPLAIN QUERY PLAN SELECT id FROM entry JOIN content USING (id) WHERE entry.resource = 1"
        ) {
            $0.text(3)
        }

        #expect(plan.contains { $0.contains("entry_resource") })
    }

    @Test func `hits, misses, stores and removals are counted`() async throws {
        try await cache.store(bytes(10), for: key("a"))
        _ = await cache.entry(for: key("a"))
        _ = await cache.entry(for: key("b"))
        _ = await cache.contains(key("b"))
        try change("UPDATE content SET data = x'00'")
        _ = await cache.entry(for: key("a"))

        var expected = CacheStatistics()
        (expected.stores, expected.hits, expected.misses, expected.damagedEntries) = (1, 1, 2, 1)
        #expect(cache.statistics == expected)
    }

    @Test(
        arguments: [
            "UPDATE content SET data = x'00' WHERE id = 2", "UPDATE content SET resource = 'z' WHERE id = 2",
            "UPDATE content SET metadata = x'00' WHERE id = 2", "UPDATE content SET variant = 'z' WHERE id = 2",
            "UPDATE entry SET checksum = 1 WHERE id = 2", "UPDATE entry SET size = 1 WHERE id = 2",
            "UPDATE entry SET blocks = 1 WHERE id = 2",
            "UPDATE entry SET length = 1 WHERE id = 2", "UPDATE entry SET length = -1 WHERE id = 2",
            "UPDATE entry SET length = 9223372036854775807, file = 5 WHERE id = 2",
        ] as [String])
    func `verification finds a changed row`(sql: String) async throws {
        for index in 0..<40 { try await cache.store(bytes(100, seed: index), for: key("\(index)")) }
        try change(sql)

        let verification = await cache.verify()

        #expect(verification.checkedCount == 40)
        #expect(verification.damagedNames == [key("1").fileName])
        #expect(await cache.count == 39)
        #expect(await cache.totalSize == verification.byteCount)
        #expect(cache.statistics.damagedEntries == 1)
        #expect(await cache.verify().damagedNames.isEmpty)
    }

    @Test func `verification corrects wrong totals`() async throws {
        for index in 0..<5 { try await cache.store(bytes(100), for: key("\(index)")) }
        let size = await cache.totalSize
        try change("UPDATE total SET size = 1, count = 77, files = 99")

        #expect(await cache.verify() == DataCacheVerification(checkedCount: 5, byteCount: size))

        #expect(await cache.totalSize == size)
        #expect(await cache.count == 5)
    }

    @Test func `verification recreates a database with a damaged structure`() async throws {
        do {
            var file = DatabaseFile.writer(directory.url)
            for index in 0..<200 { try file.store(CachedData(bytes(100)), for: key("\(index)")) }
            file.close()
        }
        // An index without an entry of its table.
        let connection = try Connection(path: directory.database.path, busyTimeout: 60_000)
        try connection.execute("PRAGMA writable_schema = ON")
        try connection.execute("UPDATE sqlite_schema SET sql = sql || ' WHERE id <> 7' WHERE name = 'entry_recency'")
        try connection.execute("PRAGMA writable_schema = RESET")
        try connection.execute("REINDEX entry_recency")
        try connection.execute("PRAGMA writable_schema = ON")
        try connection.execute(
            "UPDATE sqlite_schema SET sql = 'CREATE INDEX entry_recency ON entry (recency)' WHERE name = 'entry_recency'"
        )
        try connection.execute("PRAGMA writable_schema = RESET")

        let cache = SQLiteDiskCache(directory: directory.url)
        let verification = await cache.verify()

        #expect(verification.damagedNames.count >= 199)
        #expect(await cache.count == 0)
        try await cache.store(bytes(10), for: key("a"))
        #expect(await cache.data(for: key("a")) == bytes(10))
        #expect(await cache.verify().damagedNames.isEmpty)
    }

    @Test func `an absent cache finds, lists and cleans nothing`() async throws {
        #expect(await cache.items().isEmpty)
        #expect(await cache.key(named: key("a").fileName) == nil)
        #expect(await cache.trim().removals.isEmpty)
        #expect(await cache.trim(toSize: 0).removals.isEmpty)
        #expect(await cache.verify() == DataCacheVerification())
        #expect(await cache.removeAll(of: ResourceKey("a")) == 0)
        await cache.flush()

        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }
}
