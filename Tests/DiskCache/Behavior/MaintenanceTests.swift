import AlcedoCore
import AlcedoDiskCache
import AlcedoLibc
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct MaintenanceTests {
    private let directory: TemporaryDirectory
    private let other: TemporaryDirectory
    private let clock = ManualClock()
    private let cache: FileDiskCache

    init() throws {
        directory = try TemporaryDirectory()
        other = try TemporaryDirectory()
        cache = FileDiskCache(directory: directory.url, clock: clock)
    }

    private func entry(_ number: Int) -> CachedData {
        let expiry = number % 3 == 0 ? Date(timeIntervalSince1970: 2_000_000_000) : nil
        return CachedData(bytes(number * 50), metadata: bytes(number), expiry: expiry)
    }

    private func flip(_ path: String, at offset: Int) throws {
        var content = try #require(FileManager.default.contents(atPath: path))
        content[offset] ^= 4
        try content.write(to: URL(filePath: path))
    }

    // MARK: Verification

    @Test func `verification finds and removes all damaged entries and no others`() async throws {
        for number in 0..<50 { try await cache.store(entry(number), for: key("\(number)")) }
        let damaged = [3, 17, 31, 49]
        try flip(directory.file("3"), at: 100)
        #expect(truncate(directory.file("17"), 300) == 0)
        try FileManager.default.removeItem(atPath: directory.file("31"))
        try FileManager.default.removeItem(atPath: directory.file("49"))
        #expect(symlink(directory.file("48"), directory.file("49")) == 0)

        let result = await cache.verify()

        // A missing file is not verified.
        #expect(result.checkedCount == 49)
        #expect(Set(result.damagedNames) == Set([3, 17, 49].map { key("\($0)").fileName }))
        #expect(result.byteCount == directory.fileSizes)
        #expect(await cache.count == 46)
        #expect(await cache.totalSize == directory.fileSizes)
        #expect(cache.statistics.damagedEntries == 3)
        for number in 0..<50 {
            #expect(await cache.entry(for: key("\(number)")) == (damaged.contains(number) ? nil : entry(number)))
        }
        let again = await cache.verify()
        #expect(again == DataCacheVerification(checkedCount: 46, byteCount: directory.fileSizes))
    }

    @Test func `verification corrects sizes and expiries`() async throws {
        try await cache.store(bytes(100), for: key("a"))
        let another = FileDiskCache(directory: other.url, clock: clock)
        clock.advance(by: .seconds(1))
        try await another.store(CachedData(bytes(300), expiry: clock.now + 60), for: key("a"))
        // A file that was not added through the index.
        try #require(FileManager.default.contents(atPath: other.file("a"))).write(
            to: URL(filePath: directory.file("a")))

        #expect(await cache.verify().damagedNames.isEmpty)

        #expect(await cache.totalSize == directory.fileSizes)
        #expect(await cache.items() == another.items())
    }

    @Test func `verification of an empty cache finds nothing`() async throws {
        #expect(await cache.verify() == DataCacheVerification())
        #expect(directory.files.isEmpty)
    }

    @Test func `verification keeps entries that are stored meanwhile`() async throws {
        for number in 0..<100 { try await cache.store(entry(number), for: key("\(number)")) }
        async let result = cache.verify()
        for number in 0..<100 { try await cache.store(entry(number + 1), for: key("\(number)")) }
        #expect(await result.damagedNames.isEmpty)
        for number in 0..<100 { #expect(await cache.entry(for: key("\(number)")) == entry(number + 1)) }
    }

    // MARK: Another directory's entries

    @Test func `merging another directory moves its entries with all metadata and removes it`() async throws {
        let source = FileDiskCache(directory: other.url, pathExtension: "png", clock: clock)
        for number in 0..<30 { try await source.store(entry(number), for: key("\(number)")) }
        let variant = ImageKey(ResourceKey("0"), variant: "small")
        try await source.store(entry(7), for: variant)
        try await cache.store(CachedData(bytes(1)), for: key("5"))
        try flip(other.file("9") + ".png", at: 12)
        await source.flush()
        let before = await source.items()
        clock.advance(by: .seconds(10))

        #expect(await cache.adoptEntries(of: other.url) == 29)

        #expect(access(other.path, F_OK) != 0)
        for number in 0..<30 where ![5, 9].contains(number) {
            #expect(await cache.entry(for: key("\(number)")) == entry(number))
        }
        #expect(await cache.data(for: key("5")) == bytes(1))
        #expect(await cache.entry(for: key("9")) == nil)
        #expect(await cache.entry(for: variant) != nil)
        #expect(await cache.count == 30)
        #expect(await cache.totalSize == directory.fileSizes)
        let dates = Dictionary(uniqueKeysWithValues: before.map { ($0.name, $0.storedAt) })
        for item in await cache.items() where item.name != key("5").fileName {
            #expect(item.storedAt == dates[item.name])
        }
        #expect(await cache.removeAll(of: ResourceKey("0")) == 2)
    }

    @Test func `merged entries keep their last use and its order`() async throws {
        let source = FileDiskCache(directory: other.url, clock: clock)
        for number in 0..<20 { try await source.store(bytes(number), for: key("\(number)")) }
        clock.advance(by: .seconds(6 * 24 * 60 * 60))
        for number in (0..<10).reversed() { _ = await source.entry(for: key("\(number)")) }
        await source.flush()
        clock.advance(by: .seconds(2 * 24 * 60 * 60))

        #expect(await cache.adoptEntries(of: other.url) == 10)

        #expect(await cache.items().map(\.name) == (0..<10).reversed().map { key("\($0)").fileName })
    }

    @Test func `merging leaves entries that are too large and files of others in place`() async throws {
        let source = FileDiskCache(directory: other.url, clock: clock)
        try await source.store(CachedData(bytes(5000)), for: key("large"))
        try await source.store(CachedData(bytes(10)), for: key("small"))
        await source.flush()
        let small = FileDiskCache(directory: directory.url, sizeLimit: block, clock: clock)

        #expect(await small.adoptEntries(of: other.url) == 1)
        #expect(FileManager.default.fileExists(atPath: other.file("large")))

        let mine = try TemporaryDirectory()
        try Data("mine".utf8).write(to: mine.url.appending(path: "index"))
        #expect(await small.adoptEntries(of: mine.url) == 0)
        #expect(FileManager.default.contents(atPath: mine.path + "/index") == Data("mine".utf8))
    }

    @Test func `a cache without an index lists entries in the order of storing`() async throws {
        for number in 0..<30 {
            try await cache.store(entry(number), for: key("\(number)"))
            clock.advance(by: .milliseconds(2))
        }
        await cache.flush()
        #expect(unlink(directory.path + "/index") == 0)

        let items = await FileDiskCache(directory: directory.url, clock: clock).items()

        #expect(items.map(\.name) == (0..<30).map { key("\($0)").fileName })
    }

    @Test func `a flush enforces limits that are lower than before`() async throws {
        for number in 0..<50 { try await cache.store(entry(number), for: key("\(number)")) }
        await cache.flush()
        let narrow = FileDiskCache(directory: directory.url, limits: DataCacheLimits(countLimit: 10), clock: clock)
        await narrow.flush()
        #expect(await narrow.count == 9)
    }

    @Test func `merging skips entries that have expired or exceed the limits`() async throws {
        let source = FileDiskCache(directory: other.url, clock: clock)
        try await source.store(CachedData(bytes(10), expiry: clock.now + 5), for: key("expired"))
        try await source.store(bytes(6 * block), for: key("large"))
        for number in 0..<10 {
            clock.advance(by: .seconds(1))
            try await source.store(bytes(500), for: key("\(number)"))
        }
        await source.flush()
        let small = FileDiskCache(directory: directory.url, sizeLimit: 6 * block, clock: clock)

        #expect(await small.adoptEntries(of: other.url) > 0)
        await small.flush()

        #expect(await small.totalSize <= 6 * block)
        #expect(await small.entry(for: key("large")) == nil)
        #expect(await small.entry(for: key("expired")) == nil)
        #expect(await small.count >= 4)
    }

    @Test func `files of others keep the other directory from being removed`() async throws {
        let source = FileDiskCache(directory: other.url, clock: clock)
        try await source.store(bytes(10), for: key("a"))
        await source.flush()
        try bytes(10).write(to: other.url.appending(path: "notes.txt"))

        #expect(await cache.adoptEntries(of: other.url) == 1)

        #expect(FileManager.default.contents(atPath: other.path + "/notes.txt") == bytes(10))
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.path) == ["notes.txt"])
    }

    @Test(arguments: ["", "/", "/.", "/../%", "link"])
    func `merging a cache with its own directory under any name loses nothing`(spelling: String) async throws {
        for number in 0..<5 { try await cache.store(entry(number), for: key("\(number)")) }
        let link = other.path + "/link"
        #expect(symlink(directory.path, link) == 0)
        let path =
            spelling == "link"
            ? link : directory.path + spelling.replacing("%", with: directory.url.lastPathComponent)

        #expect(await cache.adoptEntries(of: URL(filePath: path)) == 0)

        for number in 0..<5 { #expect(await cache.entry(for: key("\(number)")) == entry(number)) }
        #expect(directory.files.count == 5)
    }

    @Test func `merging a missing directory or an invalid path moves nothing`() async throws {
        #expect(await cache.adoptEntries(of: other.url.appending(path: "nothing")) == 0)
        #expect(await cache.adoptEntries(of: try #require(URL(string: "https://a.b/c"))) == 0)
        #expect(directory.files.isEmpty)
    }

    @Test func `an entry that cannot be stored stays in its old directory`() async throws {
        let source = FileDiskCache(directory: other.url, clock: clock)
        try await source.store(bytes(10), for: key("a"))
        await source.flush()
        // A file in the place of the entry's directory.
        try Data().write(to: directory.url.appending(path: "\(key("a").fileName.prefix(2))"))

        #expect(await cache.adoptEntries(of: other.url) == 0)

        #expect(await FileDiskCache(directory: other.url, clock: clock).data(for: key("a")) == bytes(10))
    }

    @Test func `an entry present under two names is merged once`() async throws {
        let source = FileDiskCache(directory: other.url, clock: clock)
        try await source.store(bytes(100), for: key("a"))
        await source.flush()
        try FileManager.default.copyItem(atPath: other.file("a"), toPath: other.file("a") + ".png")

        #expect(await cache.adoptEntries(of: other.url) == 1)

        #expect(await cache.data(for: key("a")) == bytes(100))
        #expect(await cache.count == 1)
    }
}
