import AlcedoCore
import AlcedoDiskCache
import AlcedoLibc
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(
    .timeLimit(.minutes(10)),
    .enabled(if: ReadOnlyView.isPermitted, "only the superuser may make a directory that he cannot write to"))
struct ReadOnlyTests {
    private let directory: TemporaryDirectory
    private let clock = ManualClock()
    private let cache: FileDiskCache
    private let view: ReadOnlyView

    init() async throws {
        directory = try TemporaryDirectory()
        let writer = FileDiskCache(directory: directory.url, clock: clock)
        for number in 0..<10 {
            let expiry = number == 9 ? clock.now + 60 : nil
            try await writer.store(CachedData(bytes(number * 100), expiry: expiry), for: key("\(number)"))
        }
        await writer.flush()
        view = try #require(try ReadOnlyView(of: directory))
        cache = FileDiskCache(directory: view.url, clock: clock)
    }

    private func expectAll() async throws {
        for number in 0..<9 {
            #expect(await cache.data(for: key("\(number)")) == bytes(number * 100))
            #expect(await cache.mappedEntry(for: key("\(number)"))?.data == bytes(number * 100))
            #expect(await cache.chunks(for: key("\(number)"))?.count == number * 100)
            #expect(await cache.contains(key("\(number)")))
        }
        #expect(await cache.entry(for: key("nobody")) == nil)
    }

    @Test func `a read-only cache finds and counts all entries`() async throws {
        try await expectAll()
        #expect(await cache.count == 10)
        #expect(await cache.totalSize == directory.fileSizes)
        #expect(await cache.items().count == 10)
        #expect(await cache.key(named: key("3").fileName) == key("3"))
    }

    @Test func `a read-only cache finds all entries without an index or with a damaged one`() async throws {
        try FileManager.default.removeItem(at: directory.url.appending(path: "index"))
        try await expectAll()
        try Data(count: 500).write(to: directory.url.appending(path: "index"))
        try await expectAll()
    }

    @Test func `storing throws an error, and the stored entries stay`() async throws {
        for name in ["0", "new"] {
            let error = await #expect(throws: DataCacheError.self) { try await cache.store(bytes(7), for: key(name)) }
            #expect(error?.code == .notWritable)
        }
        #expect(await cache.entry(for: key("new")) == nil)
        try await expectAll()
        #expect(cache.statistics.failures == 2)
    }

    @Test func `a cache in a read-only directory removes no entry`() async throws {
        #expect(await !cache.remove(key("1")))
        #expect(await cache.removeAll(of: ResourceKey("1")) == 0)
        await cache.removeAll()
        #expect(await cache.trim(toSize: 0).removals.isEmpty)
        #expect(await cache.trim().removals.isEmpty)
        #expect(await cache.adoptEntries(of: directory.url) == 0)
        await cache.flush()
        try await expectAll()
        #expect(directory.files.count == 10)
    }

    @Test func `maintenance of a read-only directory reports errors`() async throws {
        let verified = await FileDiskCache(directory: view.url, clock: clock).verify()
        #expect(verified.checkedCount == 10)
        #expect(verified.byteCount == directory.fileSizes)
        #expect(verified.error?.code == .notWritable)
        #expect(await cache.trim(toSize: 0).error?.code == .notWritable)
        #expect(await cache.listingError() == nil)
        try FileManager.default.removeItem(at: directory.url.appending(path: "index"))
        #expect(await FileDiskCache(directory: view.url).listingError()?.code == .notWritable)
    }

    @Test func `damaged and expired entries are misses`() async throws {
        try Data(count: 100).write(to: URL(filePath: directory.file("3")))
        clock.advance(by: .seconds(60))
        #expect(await cache.entry(for: key("3")) == nil)
        #expect(await cache.entry(for: key("9")) == nil)
        #expect(await cache.chunks(for: key("3")) == nil)
        #expect(await cache.verify().damagedNames.isEmpty)
        #expect(directory.files.count == 10)
    }

    @Test func `a read-only cache finds entries after more uses than can be pending`() async throws {
        for _ in 0..<200 {
            for number in 0..<9 { #expect(await cache.data(for: key("\(number)")) != nil) }
        }
        await cache.flush()
        #expect(directory.unfinished.isEmpty)
    }
}
