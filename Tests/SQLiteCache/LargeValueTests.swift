import AlcedoCore
import AlcedoLibc
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoSQLiteCache

@Suite(.timeLimit(.minutes(10)))
struct LargeValueTests {
    private let directory: TemporaryDirectory
    private let cache: SQLiteDiskCache
    private let large = bytes(EntryTable.maximumInlineByteCount + 1)

    init() throws {
        directory = try TemporaryDirectory()
        cache = SQLiteDiskCache(directory: directory.url)
    }

    @Test(arguments: [
        (0, 0), (EntryTable.maximumInlineByteCount, 0), (EntryTable.maximumInlineByteCount + 1, 1), (3_000_000, 1),
    ])
    func `only a large value has a file`(count: Int, fileCount: Int) async throws {
        let entry = CachedData(bytes(count), metadata: bytes(100_000))

        try await cache.store(entry, for: key("a"))

        #expect(directory.valueFiles.count == fileCount)
        #expect(await cache.entry(for: key("a")) == entry)
    }

    @Test func `replacing and removing leaves no file`() async throws {
        for content in [large, bytes(10), large, bytes(50_000), bytes(20)] {
            try await cache.store(content, for: key("a"))

            #expect(directory.valueFiles.count == (content.count > EntryTable.maximumInlineByteCount ? 1 : 0))
            #expect(await cache.data(for: key("a")) == content)
        }
        for name in ["a", "b", "c", "d"] { try await cache.store(large, for: key(name)) }
        try await cache.store(large, for: key("b", variant: "round"))

        #expect(await cache.remove(key("a")))
        #expect(directory.valueFiles.count == 4)
        #expect(await cache.removeAll(of: ResourceKey("b")) == 2)
        #expect(directory.valueFiles.count == 2)
        await cache.trim(toSize: 40_000)
        #expect(directory.valueFiles.count == 1)
        await cache.removeAll()
        #expect(directory.valueFiles.isEmpty)
    }

    @Test func `a value whose name cannot be recorded leaves no file`() async throws {
        try await cache.store(bytes(10), for: key("a"))
        let connection = try Connection(path: directory.database.path, busyTimeout: 0)
        // A table of another version, made without the open connection.
        try connection.execute("ALTER TABLE entry RENAME TO other")

        await #expect(throws: DataCacheError.self) { try await cache.store(large, for: key("b")) }

        #expect(directory.valueFiles.isEmpty)
    }

    enum Damage: String, CaseIterable { case flipped, short, long, missing, directory, link, pipe }

    @Test(arguments: Damage.allCases)
    func `a damaged file is a miss, and its entry is removed`(damage: Damage) async throws {
        try await cache.store(large, for: key("a"))
        let file = try #require(directory.valueFiles.first)
        try await Self.damage(file, damage, outside: directory.path + "/outside")

        let found = await cache.data(for: key("a"))

        #expect(found == nil)
        #expect(await cache.count == 0)
        #expect(await cache.totalSize == 0)
        #expect(cache.statistics.damagedEntries == 1)
        #expect(directory.valueFiles.isEmpty)
        if damage == .link { #expect(FileManager.default.contents(atPath: directory.path + "/outside") == large) }
        try await cache.store(large, for: key("a"))
        #expect(await cache.data(for: key("a")) == large)
    }

    @Test(arguments: Damage.allCases)
    func `verification finds a damaged file`(damage: Damage) async throws {
        try await cache.store(large, for: key("a"))
        let name = key("a").fileName
        let file = try #require(directory.valueFiles.first)
        try await cache.store(large, for: key("b"))
        try await Self.damage(file, damage, outside: directory.path + "/outside")

        let verification = await cache.verify()

        #expect(verification.damagedNames == [name])
        #expect(verification.checkedCount == 2)
        #expect(await verification.byteCount == cache.totalSize)
        #expect(await !cache.contains(key("a")))
        #expect(await cache.data(for: key("b")) == large)
        #expect(directory.valueFiles.count == 1)
    }

    @Test func `opening removes files that no row names`() async throws {
        try await cache.store(large, for: key("a"))
        await cache.flush()
        let values = ValueDirectory(directory: directory.url)
        let left = try values.write(large).token
        // None of them is the name of a value.
        for name in ["notes.txt", "FF", "0f", "2024"] {
            try Data("foreign".utf8).write(to: URL(filePath: "\(directory.path)/values/\(name)"))
        }
        #expect(directory.valueFiles.count == 6)

        let next = SQLiteDiskCache(directory: directory.url)
        try await next.store(bytes(5), for: key("d"))
        await next.flush()

        #expect(try values.read(left, count: large.count) == nil)
        #expect(directory.valueFiles.count == 5)
        #expect(await next.data(for: key("a")) == large)
    }

    /// A store writes the file of a value in the transaction that inserts the row.
    @Test func `a file without a row is kept while another process changes the database`() async throws {
        try await cache.store(large, for: key("a"))
        await cache.flush()
        let values = ValueDirectory(directory: directory.url)
        let sweeper = SQLiteDiskCache(directory: directory.url, lockTimeout: .milliseconds(50))
        let other = try Connection(path: directory.database.path, busyTimeout: 60_000)
        try other.execute("BEGIN IMMEDIATE")
        let writing = try values.write(large).token

        await sweeper.storage.removeLeftovers()
        #expect(try values.read(writing, count: large.count) == large)

        try other.execute("ROLLBACK")
        await sweeper.storage.removeLeftovers()
        #expect(try values.read(writing, count: large.count) == nil)
    }

    @Test(arguments: ["'../../outside'", "x'00'", "5"])
    func `a damaged token refers to no file of the entry, which is removed`(token: String) async throws {
        let outside = directory.path + "/outside"
        try Data("precious".utf8).write(to: URL(filePath: outside))
        let connection = try Connection(path: directory.database.path, busyTimeout: 60_000)
        for isVerified in [true, false] {
            try await cache.store(large, for: key("a"))
            try connection.execute("UPDATE entry SET file = \(token)")

            if isVerified {
                #expect(await cache.verify().damagedNames == [key("a").fileName])
            } else {
                await cache.trim(toSize: 0)
                await cache.verify()
            }

            #expect(await cache.count == 0)
            #expect(directory.valueFiles.isEmpty)
        }
        #expect(FileManager.default.contents(atPath: outside) == Data("precious".utf8))
    }

    @Test func `the file of an abandoned value is removed by verification`() async throws {
        try await cache.store(large, for: key("a"))
        await cache.flush()
        let values = ValueDirectory(directory: directory.url)
        let left = try values.write(large).token
        #expect(try values.read(left, count: large.count) == large)

        let verification = await cache.verify()

        #expect(verification.damagedNames.isEmpty)
        #expect(try values.read(left, count: large.count) == nil)
        #expect(directory.valueFiles.count == 1)
    }

    private static func damage(_ file: String, _ damage: Damage, outside: String) async throws {
        let url = URL(filePath: file)
        var content = try Data(contentsOf: url)
        switch damage {
        case .flipped:
            content[content.count / 2] ^= 1
            try content.write(to: url)
        case .short: try content.dropLast().write(to: url)
        case .long: try (content + [0]).write(to: url)
        default:
            try content.write(to: URL(filePath: outside))
            try FileManager.default.removeItem(at: url)
            switch damage {
            case .directory: try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            case .link: #expect(symlink(outside, file) == 0)
            case .pipe: #expect(mkfifo(file, 0o600) == 0)
            default: break
            }
        }
    }
}
