import AlcedoCore
import AlcedoDiskCache
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Stores that have begun and cannot end, because another process holds the index.
@Suite(.timeLimit(.minutes(10)))
struct ReadYourWriteTests {
    private let directory: TemporaryDirectory
    private let cache: FileDiskCache
    private let clock = ManualClock()
    private let lock: IndexLock

    init() async throws {
        directory = try TemporaryDirectory()
        // The tests release the lock after their last check, however long that takes.
        cache = FileDiskCache(directory: directory.url, lockTimeout: .seconds(300), clock: clock)
        try await cache.store(bytes(10), for: key("old"))
        lock = try IndexLock(directory.path)
    }

    /// Begins a store and returns once it is visible.
    private func begin(_ entry: CachedData, for key: ImageKey) async throws -> Task<Void, any Error> {
        let task = Task { [cache] in try await cache.store(entry, for: key) }
        try await eventually { await cache.entry(for: key) == entry }
        return task
    }

    @Test func `a pending entry is found by every method before it is on disk`() async throws {
        let entry = CachedData(bytes(10_000), metadata: bytes(9), expiry: clock.now + 60)
        let store = try await begin(entry, for: key("a"))

        #expect(await cache.contains(key("a")))
        #expect(await cache.mappedEntry(for: key("a")) == entry)
        let pieces = try #require(await cache.chunks(for: key("a"), chunkSize: 4096))
        #expect(pieces.count == 10_000)
        #expect(pieces.metadata == bytes(9))
        #expect(pieces.expiry == entry.expiry)
        var data = Data()
        for try await piece in pieces { data += piece }
        #expect(data == entry.data)
        #expect(directory.files.filter { !$0.contains("/unfinished/") } == [directory.file("old")])

        lock.release()
        try await store.value
        #expect(await cache.entry(for: key("a")) == entry)
        #expect(directory.files.count == 2)
    }

    @Test func `the last of several pending stores is found, before and after writing`() async throws {
        var stores: [Task<Void, any Error>] = []
        for number in 0..<50 { stores.append(try await begin(CachedData(bytes(number)), for: key("a"))) }
        #expect(await cache.data(for: key("a")) == bytes(49))

        lock.release()
        for store in stores { try await store.value }

        #expect(await cache.data(for: key("a")) == bytes(49))
        #expect(await FileDiskCache(directory: directory.url, clock: clock).data(for: key("a")) == bytes(49))
    }

    @Test func `a pending replacement is found at once`() async throws {
        let store = try await begin(CachedData(bytes(20)), for: key("old"))
        #expect(await cache.data(for: key("old")) == bytes(20))
        lock.release()
        try await store.value
        #expect(await cache.data(for: key("old")) == bytes(20))
        #expect(await cache.count == 1)
    }

    @Test func `a removal hides a pending entry permanently`() async throws {
        let stores = [
            try await begin(CachedData(bytes(1)), for: key("a")), try await begin(CachedData(bytes(2)), for: key("b")),
        ]
        let removal = Task { await cache.remove(key("a")) }
        try await eventually { await cache.entry(for: key("a")) == nil }
        #expect(await cache.data(for: key("b")) == bytes(2))

        lock.release()
        #expect(await removal.value)
        for store in stores { try await store.value }

        #expect(await cache.entry(for: key("a")) == nil)
        #expect(await !cache.contains(key("a")))
        #expect(directory.files.count == 2)
        #expect(await cache.data(for: key("b")) == bytes(2))
    }

    @Test func `removing all entries hides pending ones permanently`() async throws {
        var stores: [Task<Void, any Error>] = []
        for name in ["a", "b", "c"] { stores.append(try await begin(CachedData(bytes(5)), for: key(name))) }
        let removal = Task { await cache.removeAll() }
        try await eventually { await cache.entry(for: key("c")) == nil }

        lock.release()
        await removal.value
        for store in stores { try await store.value }

        for name in ["old", "a", "b", "c"] { #expect(await cache.entry(for: key(name)) == nil) }
        #expect(await cache.count == 0)
        #expect(directory.files.isEmpty)
    }

    @Test func `removing a resource hides its pending variants and no other's`() async throws {
        let small = ImageKey(ResourceKey("a"), variant: "small")
        var stores: [Task<Void, any Error>] = []
        for key in [key("a"), small, key("b")] { stores.append(try await begin(CachedData(bytes(5)), for: key)) }
        let removal = Task { await cache.removeAll(of: ResourceKey("a")) }
        try await eventually { await cache.entry(for: small) == nil }
        #expect(await cache.data(for: key("b")) == bytes(5))

        lock.release()
        #expect(await removal.value == 2)
        for store in stores { try await store.value }

        #expect(await cache.entry(for: small) == nil)
        #expect(await cache.entry(for: key("a")) == nil)
        #expect(await cache.data(for: key("b")) == bytes(5))
        #expect(await cache.count == 2)
    }

    @Test func `an entry stored after a removal stays`() async throws {
        let first = try await begin(CachedData(bytes(1)), for: key("a"))
        let removal = Task { await cache.remove(key("a")) }
        try await eventually { await cache.entry(for: key("a")) == nil }
        // The removal hides the entry as soon as it is requested, and enters the queue a little later.
        let marker = try await begin(CachedData(bytes(3)), for: key("marker"))
        lock.release()
        #expect(await removal.value)
        let second = try await begin(CachedData(bytes(2)), for: key("a"))
        for store in [first, second, marker] { try await store.value }
        #expect(await cache.data(for: key("a")) == bytes(2))
    }

    @Test func `a store canceled in the queue is no longer found`() async throws {
        let first = try await begin(CachedData(bytes(1)), for: key("a"))
        // It is visible before it runs.
        try await eventually { !directory.unfinished.isEmpty }
        let second = try await begin(CachedData(bytes(2)), for: key("b"))
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(await cache.entry(for: key("b")) == nil)

        // It is already running and continues.
        first.cancel()
        lock.release()
        await cache.flush()
        _ = await first.result
        #expect(await cache.data(for: key("a")) == bytes(1))
        #expect(await cache.count == 2)
    }

    @Test func `a pending entry is not found after it expires`() async throws {
        let store = try await begin(CachedData(bytes(1), expiry: clock.now + 10), for: key("a"))
        clock.advance(by: .seconds(10))
        #expect(await cache.entry(for: key("a")) == nil)
        #expect(await !cache.contains(key("a")))
        lock.release()
        try await store.value
        #expect(await cache.entry(for: key("a")) == nil)
    }

    @Test func `an entry whose store failed is not found`() async throws {
        let large = CachedData(bytes(2000))
        let small = FileDiskCache(directory: directory.url, sizeLimit: 1000, clock: clock)
        lock.release()
        await #expect(throws: DataCacheError.self) { try await small.store(large, for: key("a")) }
        #expect(await small.entry(for: key("a")) == nil)
        #expect(await !small.contains(key("a")))
    }

    @Test(arguments: [false, true])
    func `a flush returns when all entries are on disk, whichever thread stores them`(isBlocking: Bool) async throws {
        let store: Task<Void, any Error>
        if isBlocking {
            let thread = BlockingExecutor(name: "test", maxConcurrent: 1)
            store = Task { [cache] in
                try await thread.run { try cache.storeBlocking(CachedData(bytes(1)), for: key("a")) }
            }
            try await eventually { await cache.entry(for: key("a")) != nil }
        } else {
            store = try await begin(CachedData(bytes(1)), for: key("a"))
        }
        // An immediate task is waiting when it returns here. The lock keeps the file from being written until then.
        let flush = Task.immediate { [cache, directory] in
            await cache.flush()
            return FileManager.default.fileExists(atPath: directory.file("a"))
        }

        lock.release()

        #expect(await flush.value, "the flush returned before")
        try await store.value
    }

    @Test func `a waiting flush is not delayed by later stores`() async throws {
        let flushed = Watched(0)
        let first = try await begin(CachedData(bytes(1)), for: key("a"))
        let flushes = (0..<3).map { _ in
            Task {
                await cache.flush()
                flushed.update { $0 += 1 }
            }
        }
        lock.release()
        try await first.value
        while flushed.value < 3 { try await cache.store(bytes(3), for: key("later")) }
        for flush in flushes { await flush.value }
        #expect(directory.files.contains(directory.file("a")))
    }
}
