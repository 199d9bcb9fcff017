import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Concurrent calls.
@Suite(.timeLimit(.minutes(10)))
struct ImageCacheOrderTests {
    private let clock = ManualClock()
    private let executor = ManualExecutor()
    private let key = ImageCache.imageKey("a")

    private func image(_ level: UInt8) -> DecodedImage { .gray(side: 1, level: level) }

    /// Returns a cache over a disk with level 1 whose reads wait for the clock.
    private func slowReads(on executor: ManualExecutor? = nil) -> (ImageCacheParts, ImageCache) {
        let disk = FakeDataCache(afterRead: { [clock] _ in try? await clock.sleep(for: .seconds(1)) })
        disk.entries.update { $0[key] = CachedData(level(1)) }
        let parts = ImageCacheParts(disk: disk, clock: clock)
        return (parts, parts.cache { $0.taskExecutor = executor })
    }

    /// Returns a cache over a disk whose first store waits for the clock.
    private func slowStores(on executor: ManualExecutor? = nil) -> (ImageCacheParts, ImageCache) {
        let disk = FakeDataCache(beforeStore: { [clock] number in
            if number == 1 { try await clock.sleep(for: .seconds(1)) }
        })
        let parts = ImageCacheParts(disk: disk, clock: clock)
        return (parts, parts.cache { $0.taskExecutor = executor })
    }

    @Test func `ten concurrent reads of one image read and decode once`() async throws {
        let (parts, cache) = slowReads()
        let reads = (0..<10).map { _ in Task.immediate { try await cache.image(forKey: "a") } }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        for read in reads { #expect(try await read.value?.image.level == 1) }
        #expect(parts.disk.reads.value == 1)
        #expect(parts.codec.decodes.value == 1)
    }

    enum Change: CaseIterable {
        case remove, removeFromMemory, removeFromDisk, removeAll, emptyMemory, emptyDisk, emptyAll

        func callAsFunction(_ cache: ImageCache) async {
            switch self {
            case .remove: await cache.remove(forKey: "a")
            case .removeFromMemory: await cache.remove(forKey: "a", from: .memory)
            case .removeFromDisk: await cache.remove(forKey: "a", from: .disk)
            case .removeAll: await cache.removeAll(forKey: "a")
            case .emptyMemory: await cache.removeAll(from: .memory)
            case .emptyDisk: await cache.removeAll(from: .disk)
            case .emptyAll: await cache.removeAll()
            }
        }
    }

    @Test(arguments: Change.allCases)
    func `an image removed during its read is not stored in memory`(change: Change) async throws {
        let (parts, cache) = slowReads()
        let read = Task { try await cache.image(forKey: "a") }
        try await clock.waitForSleepers(count: 1)

        await change(cache)
        clock.advance(by: .seconds(1))

        #expect(try await read.value?.image.level == 1)
        #expect(parts.memory.count == 0)
    }

    @Test(arguments: [true, false])
    func `an image stored during an older read stays in memory`(toDisk: Bool) async throws {
        let (_, cache) = slowReads()
        let read = Task { try await cache.image(forKey: "a") }
        try await clock.waitForSleepers(count: 1)

        try await cache.store(image(2), forKey: "a", toDisk: toDisk)
        clock.advance(by: .seconds(1))

        _ = try await read.value
        #expect(cache.imageInMemory(forKey: "a")?.level == 2)
    }

    @Test func `a read after a removal does not join the read before it`() async throws {
        let (parts, cache) = slowReads()
        let first = Task { try await cache.image(forKey: "a") }
        try await clock.waitForSleepers(count: 1)
        await cache.remove(forKey: "a")
        let second = Task { try await cache.image(forKey: "a") }
        try await clock.waitForSleepers(count: 2)
        clock.advance(by: .seconds(1))

        #expect(try await first.value != nil)
        #expect(try await second.value == nil)
        #expect(parts.disk.reads.value == 2)
    }

    @Test func `bytes that cannot be decoded are not removed once they have been replaced`() async throws {
        let (parts, cache) = slowReads()
        parts.disk.entries.update { $0[key] = CachedData(Data("fail:corrupt".utf8)) }
        let read = Task { try await cache.image(forKey: "a") }
        try await clock.waitForSleepers(count: 1)
        try await cache.store(image(2), forKey: "a")
        clock.advance(by: .seconds(1))

        #expect(try await read.value == nil)
        await cache.flush()
        #expect(parts.stored("a") == level(2))
    }

    @Test func `a read without waiters decodes nothing and stores nothing in memory`() async throws {
        let (parts, cache) = slowReads(on: executor)
        let read = Task(executorPreference: executor) { try await cache.image(forKey: "a") }
        executor.drain()
        #expect(clock.sleeperCount == 1)

        read.cancel()
        executor.drain()

        await #expect(throws: CancellationError.self) { try await read.value }
        #expect(clock.sleeperCount == 0)
        #expect(parts.codec.decodes.value == 0)
        #expect(parts.memory.count == 0)
    }

    @Test func `a waiter that leaves does not cancel the read of the others`() async throws {
        let (parts, cache) = slowReads()
        let reads = (0..<2).map { _ in Task.immediate { try await cache.image(forKey: "a") } }
        try await clock.waitForSleepers(count: 1)
        reads[0].cancel()
        await #expect(throws: CancellationError.self) { try await reads[0].value }
        clock.advance(by: .seconds(1))
        #expect(try await reads[1].value?.image.level == 1)
        #expect(parts.memory.count == 1)
    }

    @Test func `the later of two stores stays, on disk as in memory`() async throws {
        let (parts, cache) = slowStores(on: executor)
        cache.startStoring(image(1), forKey: "a")
        executor.drain()
        #expect(clock.sleeperCount == 1)
        cache.startStoring(image(2), forKey: "a")
        executor.drain()
        clock.advance(by: .seconds(1))
        executor.drain()
        #expect(parts.stored("a") == level(2))
        #expect(cache.imageInMemory(forKey: "a")?.level == 2)
    }

    @Test(arguments: [Change.remove, .removeAll, .emptyDisk, .emptyAll])
    func `an image removed during its write is gone`(change: Change) async throws {
        let (parts, cache) = slowStores(on: executor)
        cache.startStoring(image(1), forKey: "a")
        executor.drain()
        #expect(clock.sleeperCount == 1)
        let removal = Task(executorPreference: executor) { await change(cache) }
        executor.drain()
        clock.advance(by: .seconds(1))
        executor.drain()
        await removal.value
        #expect(parts.stored("a") == nil)
    }

    @Test func `the size includes pending writes and does not wait for other keys`() async throws {
        let (_, cache) = slowStores()
        cache.startStoring(image(1), forKey: "a")
        try await clock.waitForSleepers(count: 1)
        try await cache.store(image(2), forKey: "b")
        let size = Task.immediate { await cache.totalDiskSize }
        clock.advance(by: .seconds(1))
        #expect(await size.value == 2 * level(1).count)
    }

    @Test func `a canceled store throws CancellationError and leaves the image in memory only`() async throws {
        let (parts, cache) = slowStores()
        parts.disk.entries.update { $0[key] = CachedData(level(9)) }
        let store = Task { try await cache.store(image(1), forKey: "a") }
        try await clock.waitForSleepers(count: 1)
        store.cancel()
        await #expect(throws: CancellationError.self) { try await store.value }
        #expect(parts.stored("a") == nil)
        #expect(cache.imageInMemory(forKey: "a")?.level == 1)
    }

    @Test func `removal completes in a canceled task`() async throws {
        let parts = ImageCacheParts()
        let cache = parts.cache()
        try await cache.store(image(1), forKey: "a")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await cache.remove(forKey: "a", from: .disk)
        }
        #expect(await task.value)
        #expect(parts.stored("a") == nil)
    }
}
