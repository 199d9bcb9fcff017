import AlcedoCore
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

/// The blocking methods.
@Suite(.timeLimit(.minutes(10)))
struct BlockingTests {
    private let directory: TemporaryDirectory
    private let clock = ManualClock()

    init() throws { directory = try TemporaryDirectory() }

    /// Runs the work on a thread that may block.
    private func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await BlockingExecutor(name: "test", maxConcurrent: 1).run(work)
    }

    @Test func `a stored entry is found by all callers until it expires`() async throws {
        let cache = FileDiskCache(directory: directory.url, clock: clock)
        let entry = CachedData(bytes(500), metadata: bytes(3), expiry: clock.now + 60)
        #expect(try await blocking { cache.entryBlocking(for: key("a")) } == nil)
        try await blocking { try cache.storeBlocking(entry, for: key("a")) }
        #expect(try await blocking { cache.entryBlocking(for: key("a")) } == entry)
        #expect(await cache.entry(for: key("a")) == entry)
        #expect(await FileDiskCache(directory: directory.url, clock: clock).entry(for: key("a")) == entry)

        clock.advance(by: .seconds(60))
        #expect(try await blocking { cache.entryBlocking(for: key("a")) } == nil)
        #expect(await cache.count == 0)
        #expect(directory.files.isEmpty)
        #expect(cache.statistics.hits == 2)
        #expect(cache.statistics.misses == 2)
    }

    enum Later: CaseIterable { case store, blockingStore, expiredStore, removal, removalOfAll, removalOfResource }

    @Test(arguments: Later.allCases)
    func `a store overtaken by a later call of another thread does not undo that call`(later: Later) async throws {
        let clock = HoldingClock()
        clock.hold(1)
        let cache = FileDiskCache(directory: directory.url, sweepInterval: .zero, clock: clock)
        let entry = CachedData(bytes(20))
        // Begun, and not on disk yet.
        async let earlier: Void = blocking { try cache.storeBlocking(CachedData(bytes(10)), for: key("a")) }
        try await blocking { clock.waitForHeld() }

        switch later {
        case .store: try await cache.store(entry, for: key("a"))
        case .blockingStore: try await blocking { try cache.storeBlocking(entry, for: key("a")) }
        case .expiredStore:
            try await cache.store(CachedData(bytes(5), expiry: Date(timeIntervalSince1970: 5)), for: key("a"))
        case .removal: #expect(await cache.remove(key("a")))
        case .removalOfAll: await cache.removeAll()
        case .removalOfResource: #expect(await cache.removeAll(of: key("a").resource) == 1)
        }
        clock.release()
        try await earlier
        await cache.flush()

        let isStore = later == .store || later == .blockingStore
        #expect(await cache.entry(for: key("a")) == (isStore ? entry : nil))
        let other = FileDiskCache(directory: directory.url, limits: DataCacheLimits(maximumAge: nil))
        #expect(await other.entry(for: key("a")) == (isStore ? entry : nil))
        #expect(directory.files.count == (isStore ? 1 : 0))
    }

    enum Removal: CaseIterable { case one, all, resource }

    @Test(arguments: Removal.allCases)
    func `a removal keeps the entry of a later store that is written first`(removal: Removal) async throws {
        let clock = HoldingClock()
        clock.hold(1)
        let cache = FileDiskCache(directory: directory.url, sweepInterval: .zero, clock: clock)
        // It holds the writer's thread, so the removal waits.
        async let earlier: Void = cache.store(CachedData(bytes(10)), for: key("a"))
        try await blocking { clock.waitForHeld() }
        let removing = Task {
            switch removal {
            case .one: #expect(await cache.remove(key("a")))
            case .all: await cache.removeAll()
            case .resource: #expect(await cache.removeAll(of: key("a").resource) == 1)
            }
        }
        // A removal that has begun hides the entry.
        try await eventually { await cache.entry(for: key("a")) == nil }
        try await blocking { try cache.storeBlocking(CachedData(bytes(20)), for: key("a")) }

        clock.release()
        try await earlier
        await removing.value

        #expect(await cache.data(for: key("a")) == bytes(20))
        #expect(await cache.count == 1)
        let other = FileDiskCache(directory: directory.url, limits: DataCacheLimits(maximumAge: nil))
        #expect(await other.data(for: key("a")) == bytes(20))
        #expect(directory.files == [directory.file("a")])
    }

    @Test func `a damaged entry is a miss and is removed`() async throws {
        let cache = FileDiskCache(directory: directory.url)
        try await blocking { try cache.storeBlocking(CachedData(bytes(500)), for: key("a")) }
        try bytes(400).write(to: URL(filePath: directory.file("a")))
        #expect(try await blocking { cache.entryBlocking(for: key("a")) } == nil)
        #expect(cache.statistics.damagedEntries == 1)
        #expect(directory.files.isEmpty)
    }

    @Test func `an oversized entry is refused, and the limits hold`() async throws {
        let cache = FileDiskCache(directory: directory.url, limits: DataCacheLimits(sizeLimit: 10_000))
        await #expect(throws: DataCacheError.self) {
            try await blocking { try cache.storeBlocking(CachedData(bytes(20_000)), for: key("a")) }
        }
        for number in 0..<50 {
            try await blocking { try cache.storeBlocking(CachedData(bytes(1_000)), for: key("\(number)")) }
        }
        await cache.flush()
        #expect(await cache.totalSize <= 10_000)
        #expect(await cache.contains(key("49")))
    }
}
