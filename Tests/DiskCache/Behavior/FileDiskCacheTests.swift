import TestSupport
import AlcedoCore
import AlcedoDiskCache
import AlcedoTesting
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FileDiskCacheTests {
    private let directory: TemporaryDirectory
    private let clock = ManualClock()

    init() throws { directory = try TemporaryDirectory() }

    private func cache(sizeLimit: Int = 1 << 20) -> FileDiskCache {
        FileDiskCache(directory: directory.url, sizeLimit: sizeLimit, clock: clock)
    }

    @Test(arguments: DataCacheConformance.checks + DataCacheConformance.persistenceChecks)
    func `the disk cache on files passes each conformance check`(check: DataCacheConformance.Check) async throws {
        try await check { [directory] options in
            let location = directory.url.appending(path: "\(options.storage)")
            return FileDiskCache(directory: location, sizeLimit: options.byteLimit)
        }
    }

    @Test func `nothing is written to disk before the first store`() async throws {
        let url = directory.url.appending(path: "not/yet")
        let cache = FileDiskCache(directory: url)
        #expect(await cache.data(for: key("a")) == nil)
        #expect(await cache.totalSize == 0)
        await cache.removeAll()
        #expect(!(await cache.remove(key("a"))))
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/not"))

        try await cache.store(bytes(5), for: key("a"))

        #expect(await cache.data(for: key("a")) == bytes(5))
    }

    @Test(arguments: [0, 1, 31, 32, 33, 100_000])
    func `entries of any size are returned with their metadata`(count: Int) async throws {
        let entry = CachedData(bytes(count), metadata: bytes(count / 2, seed: 9))
        try await cache().store(entry, for: key("a"))
        #expect(await cache().entry(for: key("a")) == entry)
    }

    @Test func `the total size counts the blocks of the files`() async throws {
        let cache = cache()
        for number in 0..<20 { try await cache.store(bytes(number * 10), for: key("\(number % 13)")) }
        await cache.remove(key("3"))

        #expect(await cache.totalSize == directory.fileSizes)
        #expect(await self.cache().totalSize == directory.fileSizes)
        #expect(directory.files.count == 12)
    }

    @Test func `the least recently used entry is evicted first`() async throws {
        let cache = cache(sizeLimit: 5 * block - 1)
        for name in ["a", "b", "c", "d"] { try await store(name, in: cache) }
        clock.advance(by: .seconds(1))
        _ = await cache.data(for: key("a"))

        try await store("e", in: cache)

        // Nine tenths of nearly five blocks are four entries.
        #expect(await keys(in: cache) == ["a", "c", "d", "e"])
    }

    @Test func `the order of use survives a restart`() async throws {
        let first = cache(sizeLimit: 5 * block - 1)
        for name in ["a", "b", "c", "d"] { try await store(name, in: first) }
        clock.advance(by: .seconds(1))
        _ = await first.data(for: key("b"))
        clock.advance(by: .seconds(1))
        _ = await first.data(for: key("a"))
        await first.flush()

        let second = cache(sizeLimit: 5 * block - 1)
        try await store("e", in: second)
        #expect(await keys(in: second) == ["a", "b", "d", "e"])

        let third = cache(sizeLimit: 4 * block - 1)
        try await store("f", in: third)
        #expect(await keys(in: third).count == 3)
        #expect(await third.data(for: key("f")) != nil)
    }

    @Test func `entries stored under a larger limit are found until the smaller limit is enforced`() async throws {
        try await cache().store(bytes(3000), for: key("a"))
        let small = cache(sizeLimit: 1000)
        #expect(await small.data(for: key("a")) == bytes(3000))
        #expect(await small.trim().removals.map(\.evictionReason) == [.costLimit])
        #expect(directory.files.isEmpty)
    }

    @Test func `two caches on one directory find each other's entries`() async throws {
        let (one, two) = (cache(), cache())
        try await one.store(bytes(10), for: key("a"))
        #expect(await two.data(for: key("a")) == bytes(10))
        try await two.store(bytes(20), for: key("a"))
        #expect(await one.data(for: key("a")) == bytes(20))
        await one.remove(key("a"))
        #expect(await two.data(for: key("a")) == nil)
        #expect(await two.totalSize == 0)
    }

    @Test func `a canceled task stores nothing, but its removals take effect`() async throws {
        let cache = cache()
        for name in ["a", "b"] { try await cache.store(bytes(10), for: key(name)) }

        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await #expect(throws: CancellationError.self) { try await cache.store(bytes(10), for: key("c")) }
            #expect(await cache.entry(for: key("a")) == nil)
            let size = await cache.totalSize
            let removed = await cache.remove(key("a"))
            await cache.removeAll()
            return (size, removed)
        }
        let (size, removed) = await task.value

        #expect(size > 20)
        #expect(removed)
        #expect(directory.files.isEmpty)
        #expect(await cache.totalSize == 0)
    }

    @Test func `concurrent reads, writes and removals leave the size correct`() async throws {
        let cache = cache(sizeLimit: 40_000)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<6 {
                group.addTask {
                    for step in 0..<60 {
                        let name = key("\((task * 5 + step) % 9)")
                        switch (task + step) % 6 {
                        case 0, 1: try? await cache.store(bytes(step * 37 % 6000), for: name)
                        case 5: await cache.remove(name)
                        default: _ = await cache.entry(for: name)
                        }
                        if task == 0, step % 20 == 19 { await cache.removeAll() }
                    }
                }
            }
        }
        #expect(await cache.totalSize == directory.fileSizes)
        #expect(directory.fileSizes <= 40_000)
    }

    private func store(_ name: String, in cache: FileDiskCache) async throws {
        clock.advance(by: .seconds(1))
        try await cache.store(bytes(1000), for: key(name))
        await cache.flush()
    }

    /// Returns the keys of the stored entries. Does not count as a use.
    private func keys(in cache: FileDiskCache) async -> [String] {
        ["a", "b", "c", "d", "e", "f"].filter { FileManager.default.fileExists(atPath: directory.file($0)) }
    }
}
