import TestSupport
import AlcedoCore
import AlcedoSQLiteCache
import AlcedoTesting
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SQLiteDiskCacheTests {
    private let directory: TemporaryDirectory
    private let cache: SQLiteDiskCache

    init() throws {
        directory = try TemporaryDirectory()
        cache = SQLiteDiskCache(directory: directory.url)
    }

    @Test(arguments: DataCacheConformance.checks + DataCacheConformance.persistenceChecks)
    func `the SQLite cache passes each conformance check`(check: DataCacheConformance.Check) async throws {
        let directory = directory
        try await check {
            SQLiteDiskCache(directory: directory.url.appending(path: "\($0.storage)"), sizeLimit: $0.byteLimit)
        }
    }

    @Test(arguments: [0, 1, 4_096, 3_000_000])
    func `a stored entry is returned`(count: Int) async throws {
        let entry = CachedData(Data((0..<count).map { UInt8(truncatingIfNeeded: $0) }), metadata: Data("notes".utf8))

        try await cache.store(entry, for: key("a"))

        #expect(await cache.entry(for: key("a")) == entry)
        #expect(await cache.entry(for: key("b")) == nil)
    }

    @Test func `an entry survives the cache that stored it`() async throws {
        try await cache.store(Data("bytes".utf8), for: key("a"))

        let next = SQLiteDiskCache(directory: directory.url)

        #expect(await next.data(for: key("a")) == Data("bytes".utf8))
    }

    @Test func `storing again replaces the entry and counts it once`() async throws {
        try await cache.store(Data(count: 1_000), for: key("a"))
        let before = await cache.totalSize

        try await cache.store(Data(count: 6_000), for: key("a"))

        #expect(await cache.data(for: key("a"))?.count == 6_000)
        #expect(await cache.items().map(\.size) == [cache.totalSize])
        #expect(await cache.totalSize > before)
    }

    @Test func `a variant and its original are different entries`() async throws {
        let original = key("a")
        let variant = ImageKey(ResourceKey("a"), variant: "10x10")
        try await cache.store(Data("original".utf8), for: original)

        #expect(await cache.data(for: variant) == nil)

        try await cache.store(Data("variant".utf8), for: variant)
        #expect(await cache.data(for: original) == Data("original".utf8))
        #expect(await cache.data(for: variant) == Data("variant".utf8))
    }

    @Test(arguments: ["'); DROP TABLE entry; --", "a\u{0}b", "", "\"?1:x@$", "ü\u{301}🐦"])
    func `a key may contain any text`(name: String) async throws {
        try await cache.store(Data(name.utf8), for: key(name))
        try await cache.store(Data("other".utf8), for: key(name + "'"))

        #expect(await cache.data(for: key(name)) == Data(name.utf8))
    }

    @Test func `removing returns whether there was an entry`() async throws {
        try await cache.store(Data(count: 5), for: key("a"))
        try await cache.store(Data(count: 5), for: key("b"))

        #expect(await cache.remove(key("a")))
        #expect(await !cache.remove(key("a")))

        #expect(await cache.data(for: key("a")) == nil)
        #expect(await cache.data(for: key("b")) != nil)
    }

    @Test func `removing takes effect in a canceled task`() async throws {
        try await cache.store(Data(count: 5), for: key("a"))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await cache.remove(key("a"))
        }

        #expect(await task.value)
        #expect(await cache.data(for: key("a")) == nil)
    }

    @Test func `removing everything frees the space`() async throws {
        for index in 0..<20 { try await cache.store(Data(count: 100_000), for: key("\(index)")) }

        await cache.removeAll()

        #expect(await cache.totalSize == 0)
        #expect(await cache.data(for: key("3")) == nil)
        #expect(try Data(contentsOf: directory.database).count < 100_000)
        try await cache.store(Data(count: 1), for: key("3"))
        #expect(await cache.data(for: key("3")) == Data(count: 1))
    }

    @Test func `reading an empty directory creates no file`() async throws {
        #expect(await cache.entry(for: key("a")) == nil)
        #expect(await cache.totalSize == 0)
        #expect(await !cache.remove(key("a")))
        await cache.removeAll()

        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
    }

    @Test func `a missing directory is created`() async throws {
        let deep = SQLiteDiskCache(directory: directory.url.appending(path: "a/b c%41"))

        try await deep.store(Data(count: 5), for: key("a"))

        #expect(await deep.data(for: key("a")) == Data(count: 5))
    }

    @Test func `caches on one directory share their entries`() async throws {
        let other = SQLiteDiskCache(directory: directory.url)

        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                let writer = index.isMultiple(of: 2) ? cache : other
                group.addTask { try await writer.store(Data("\(index)".utf8), for: ImageKey(ResourceKey("\(index)"))) }
            }
            try await group.waitForAll()
        }

        for index in 0..<40 {
            #expect(await cache.data(for: key("\(index)")) == Data("\(index)".utf8))
            #expect(await other.data(for: key("\(index)")) == Data("\(index)".utf8))
        }
        #expect(await cache.totalSize == other.totalSize)
    }
}
