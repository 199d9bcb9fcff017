import AlcedoCore
import AlcedoLibc
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoSQLiteCache

@Suite(
    .timeLimit(.minutes(10)), .enabled(if: ReadOnlyMount.isPermitted, "only the superuser may make a read-only place"))
struct ReadOnlyTests {
    private let directory: TemporaryDirectory
    private let sizes = [0, 10, 30_000, 40_000]

    init() throws { directory = try TemporaryDirectory() }

    /// Closes the file, which leaves no log.
    private func fill(_ sizes: [Int]) throws {
        var file = DatabaseFile.writer(directory.url)
        for size in sizes { try file.store(CachedData(bytes(size)), for: key("\(size)")) }
        file.close()
    }

    private func expectAll(_ cache: SQLiteDiskCache, _ sizes: [Int]) async {
        for size in sizes {
            #expect(await cache.data(for: key("\(size)")) == bytes(size), "\(size)")
            #expect(await cache.contains(key("\(size)")))
        }
        #expect(await cache.entry(for: key("nobody")) == nil)
        #expect(await cache.count == sizes.count)
        #expect(await cache.items().count == sizes.count)
        #expect(await cache.key(named: key("10").fileName) == key("10"))
        let verified = await cache.verify()
        #expect(verified.damagedNames.isEmpty)
        #expect(verified.error == nil)
    }

    @Test func `damaged and expired entries stay, and the reason is reported`() async throws {
        try fill(sizes)
        let file = try #require(directory.valueFiles.first)
        #expect(truncate(file, 100) == 0)
        let view = try #require(try ReadOnlyMount(of: directory))
        let verified = await SQLiteDiskCache(directory: view.url).verify()
        #expect(verified.damagedNames.isEmpty)
        #expect(verified.error?.code == .notWritable)
        #expect(verified.checkedCount == sizes.count)
        let old = SQLiteDiskCache(
            directory: view.url, limits: DataCacheLimits(maximumAge: .seconds(60)),
            clock: ManualClock(now: Date() + 3_600))
        #expect(await old.trim().error?.code == .notWritable)
        let small = SQLiteDiskCache(directory: view.url, limits: DataCacheLimits(sizeLimit: 1_000))
        #expect(await small.trim().error?.code == .notWritable)
        withExtendedLifetime(view) {}
    }

    @Test(arguments: [true, false])
    func `every entry of a closed cache is found`(hasLock: Bool) async throws {
        try fill(sizes)
        if !hasLock { unlink(directory.database.path + ".lock") }
        #expect(!FileManager.default.fileExists(atPath: directory.log.path))
        let view = try #require(try ReadOnlyMount(of: directory))

        await expectAll(SQLiteDiskCache(directory: view.url), sizes)
        withExtendedLifetime(view) {}
    }

    @Test func `every entry of an open cache is found, also those stored later`() async throws {
        let writer = SQLiteDiskCache(directory: directory.url)
        for size in sizes { try await writer.store(bytes(size), for: key("\(size)")) }
        let view = try #require(try ReadOnlyMount(of: directory))
        let cache = SQLiteDiskCache(directory: view.url)
        await expectAll(cache, sizes)

        try await writer.store(bytes(99), for: key("99"))
        await expectAll(cache, sizes + [99])
        withExtendedLifetime((view, writer)) {}
    }

    @Test func `a read-only cache finds entries that another cache stores`() async throws {
        try fill([10])
        let view = try #require(try ReadOnlyMount(of: directory))
        let cache = SQLiteDiskCache(directory: view.url)
        await expectAll(cache, [10])
        for count in 1...20 {
            try fill([count * 1_000])
            await expectAll(cache, [10] + (1...count).map { $0 * 1_000 })
        }
        withExtendedLifetime(view) {}
    }

    @Test func `storing is refused, entries stay, and uses are not recorded`() async throws {
        try fill(sizes)
        let view = try #require(try ReadOnlyMount(of: directory))
        let cache = SQLiteDiskCache(directory: view.url)
        for name in ["10", "new"] {
            let error = await #expect(throws: DataCacheError.self) { try await cache.store(bytes(7), for: key(name)) }
            #expect(error?.code == .notWritable)
        }
        #expect(await !cache.remove(key("10")))
        await cache.removeAll()
        let trimmed = await cache.trim(toSize: 0)
        #expect(trimmed.removals.isEmpty)
        #expect(trimmed.error?.code == .notWritable)
        // There is nothing to remove.
        #expect(await cache.trim() == DataCacheTrimReport())
        #expect(await cache.trim(toSize: 100_000) == DataCacheTrimReport())
        for _ in 0..<100 { await expectAll(cache, sizes) }
        await cache.flush()
        #expect(cache.storage.uses.isEmpty)
        #expect(directory.valueFiles.count == 1)
        withExtendedLifetime(view) {}
    }
}
