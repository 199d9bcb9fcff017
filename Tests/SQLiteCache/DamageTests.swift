import TestSupport
import AlcedoCore
import FoundationEssentials
import Testing

@testable import AlcedoSQLiteCache

@Suite(.timeLimit(.minutes(10)))
struct DamageTests {
    private let directory: TemporaryDirectory
    /// Of the largest size stored in a row.
    private let bytes = Data((0..<32_768).map { UInt8(truncatingIfNeeded: $0 / 7) })

    init() throws { directory = try TemporaryDirectory() }

    private var cache: SQLiteDiskCache { SQLiteDiskCache(directory: directory.url) }

    /// Stores `bytes` under "a" and "b" and closes the file, which leaves no log.
    private func fill() throws {
        var file = DatabaseFile.writer(directory.url)
        for name in ["a", "b"] { try file.store(CachedData(bytes), for: key(name)) }
        file.close()
    }

    private func change(_ sql: String) throws {
        try Connection(path: directory.database.path, busyTimeout: 60_000).execute(sql)
    }

    @Test(
        arguments: [
            "UPDATE content SET data = zeroblob(32768)", "UPDATE content SET data = x''",
            "UPDATE content SET metadata = x'01'", "UPDATE entry SET checksum = checksum + 1",
            "UPDATE entry SET expiry = 1 << 52", "UPDATE entry SET stored = stored - 1",
            "UPDATE entry SET used = used + 1",
            "UPDATE content SET data = 'text'", "UPDATE content SET data = substr(data, 1, 32767)",
        ] as [String])
    func `a changed row is a miss and is removed`(sql: String) async throws {
        try fill()
        try change(sql)
        let before = await cache.totalSize

        #expect(await cache.entry(for: key("a")) == nil)

        #expect(await cache.totalSize < before)
        #expect(await !cache.remove(key("a")))
    }

    @Test func `a value that is moved to another key is a miss and is removed`() async throws {
        var file = DatabaseFile.writer(directory.url)
        for name in ["a", "b"] {
            try file.store(CachedData(Data(name.utf8), metadata: Data("notes".utf8)), for: key(name))
        }
        file.close()
        try change("UPDATE content SET data = (SELECT data FROM content WHERE id = 2) WHERE id = 1")
        try change("UPDATE entry SET checksum = (SELECT checksum FROM entry WHERE id = 2) WHERE id = 1")

        #expect(await cache.entry(for: key("a")) == nil)

        #expect(await cache.data(for: key("b")) == Data("b".utf8))
        #expect(await cache.count == 1)
    }

    @Test func `a trim ends when a damaged header prevents that the file is shortened`() async throws {
        var file = DatabaseFile.writer(directory.url)
        for number in 0..<20 { try file.store(CachedData(bytes), for: key("\(number)")) }
        file.close()
        var database = try Data(contentsOf: directory.database)
        // The largest root page, which is zero in a database that SQLite does not shorten.
        database.replaceSubrange(52..<56, with: Data(count: 4))
        try database.write(to: directory.database)

        let cache = cache
        _ = await cache.trim(toSize: 0)

        #expect(await cache.count == 0)
    }

    @Test func `a row under another entry's name is a miss`() async throws {
        try fill()
        try change("DELETE FROM entry WHERE id = 1; UPDATE entry SET name = 'x'")
        let wrong = key("c").fileName
        let connection = try Connection(path: directory.database.path, busyTimeout: 60_000)
        try connection.run("UPDATE entry SET name = ?", [wrong])

        #expect(await cache.entry(for: key("c")) == nil)
    }

    @Test(arguments: ["", "no database", String(repeating: "SQLite format 3\u{0}", count: 600)])
    func `a file that is not a database is created again`(content: String) async throws {
        try Data(content.utf8).write(to: directory.database)

        #expect(await cache.entry(for: key("a")) == nil)
        try await cache.store(bytes, for: key("a"))

        #expect(await cache.data(for: key("a")) == bytes)
    }

    @Test(
        arguments: [
            "PRAGMA user_version = 3", "PRAGMA user_version = 4", "PRAGMA user_version = 0", "DROP TABLE content",
            "CREATE TABLE more (a)",
            "DROP TABLE entry; CREATE TABLE entry (a)", "CREATE TRIGGER t AFTER INSERT ON entry BEGIN SELECT 1; END",
            "DELETE FROM total",
        ] as [String])
    func `tables of another version are created again`(sql: String) async throws {
        try fill()
        try change(sql)
        let cache = cache

        try await cache.store(bytes, for: key("c"))

        #expect(await cache.data(for: key("c")) == bytes)
        #expect(await cache.data(for: key("a")) == nil)
        #expect(
            try Connection(path: directory.database.path, busyTimeout: 0).firstRow("PRAGMA user_version") {
                $0.integer(0)
            } == Schema.version)
    }

    @Test(arguments: [Int64.max, Int64.min, -1, 0])
    func `invalid numbers neither crash nor stop eviction`(number: Int64) async throws {
        try fill()
        let connection = try Connection(path: directory.database.path, busyTimeout: 60_000)
        try connection.run("UPDATE total SET size = ?1, count = ?1, files = ?1", [number])
        try connection.run("UPDATE entry SET size = ?1, recency = ?1, blocks = ?1", [number])
        let small = SQLiteDiskCache(directory: directory.url, sizeLimit: 100_000)

        #expect(await small.data(for: key("a")) == bytes)
        for name in ["c", "d", "e"] {
            try await small.store(bytes, for: key(name))
            #expect(await small.data(for: key(name)) == bytes)
        }
    }

    @Test func `a file truncated at any position serves no damaged entry`() async throws {
        try fill()
        let whole = try Data(contentsOf: directory.database)

        for length in stride(from: 0, to: whole.count, by: whole.count / 23) {
            try await expectNoDamage(in: Data(whole.prefix(length)), "cut at \(length)")
        }
    }

    @Test func `flipped bits serve no damaged entry`() async throws {
        try fill()
        let whole = try Data(contentsOf: directory.database)
        var random = SeededGenerator(seed: 7)

        for round in 0..<60 {
            var changed = whole
            // Half of them in the first pages, which contain the structure.
            let range = round.isMultiple(of: 2) ? 0..<8_192 : 0..<whole.count
            for _ in 0..<4 {
                changed[Int.random(in: range, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            try await expectNoDamage(in: changed, "round \(round)")
        }
    }

    private func expectNoDamage(in database: Data, _ comment: Comment) async throws {
        let directory = try TemporaryDirectory()
        try database.write(to: directory.database)
        let cache = SQLiteDiskCache(directory: directory.url)
        for name in ["a", "b"] {
            let found = await cache.data(for: key(name))
            #expect(found == nil || found == bytes, comment)
        }
        // A damaged index may lose entries stored before the damage is found.
        try await cache.store(bytes, for: key("new"))
        let new = await cache.data(for: key("new"))
        #expect(new == nil || new == bytes, comment)

        await cache.verify()

        try await cache.store(bytes, for: key("new"))
        #expect(await cache.data(for: key("new")) == bytes, comment)
    }
}
