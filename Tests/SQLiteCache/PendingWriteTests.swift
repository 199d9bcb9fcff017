import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoSQLiteCache

@Suite(.timeLimit(.minutes(10)))
struct PendingWriteTests {
    private let directory: TemporaryDirectory
    private let cache: SQLiteDiskCache

    init() throws {
        directory = try TemporaryDirectory()
        // The tests release the lock after their last check, however long that takes.
        cache = SQLiteDiskCache(directory: directory.url, lockTimeout: .seconds(300))
    }

    /// Takes the write lock of the database, like another process.
    private func lockDatabase() throws -> Connection {
        let connection = try Connection(path: directory.database.path, busyTimeout: 60_000)
        try connection.execute("BEGIN IMMEDIATE")
        return connection
    }

    @Test func `a value is found while it is being stored, and reads wait for no write`() async throws {
        try await cache.store(bytes(10), for: key("a"))
        try await cache.store(bytes(10), for: key("b"))
        await cache.flush()
        _ = await cache.entry(for: key("b"))
        let lock = try lockDatabase()
        let store = Task { [cache] in try await cache.store(bytes(40_000), for: key("a")) }
        try await eventually { await cache.data(for: key("a")) == bytes(40_000) }

        #expect(await cache.contains(key("a")))
        #expect(await cache.data(for: key("b")) == bytes(10))
        #expect(await cache.count == 2)
        // None of it is in the database.
        #expect(await SQLiteDiskCache(directory: directory.url).data(for: key("a")) == bytes(10))
        try lock.execute("COMMIT")
        try await store.value

        #expect(await cache.data(for: key("a")) == bytes(40_000))
    }

    @Test func `an entry that expires while it is being stored is not found`() async throws {
        let clock = ManualClock()
        let cache = SQLiteDiskCache(directory: directory.url, lockTimeout: .seconds(300), clock: clock)
        try await cache.store(bytes(10), for: key("b"))
        await cache.flush()
        let lock = try lockDatabase()
        let entry = CachedData(bytes(40_000), expiry: clock.now.addingTimeInterval(10))
        let store = Task { try await cache.store(entry, for: key("a")) }
        try await eventually { await cache.contains(key("a")) }

        clock.advance(by: .seconds(10))

        #expect(await !cache.contains(key("a")))
        #expect(await cache.entry(for: key("a")) == nil)
        try lock.execute("COMMIT")
        try await store.value
    }

    @Test func `a failed store keeps the previous entry`() async throws {
        try await cache.store(bytes(10), for: key("a"))
        await cache.flush()
        let cache = SQLiteDiskCache(directory: directory.url, lockTimeout: .milliseconds(50))
        // For longer than its lock timeout.
        let lock = try lockDatabase()

        let error = await #expect(throws: DataCacheError.self) { try await cache.store(bytes(40_000), for: key("a")) }

        #expect(error?.code == .failed)
        #expect(await cache.data(for: key("a")) == bytes(10))
        #expect(directory.valueFiles.isEmpty)
        #expect(cache.statistics.failures == 1)
        try lock.execute("COMMIT")
    }

    @Test func `a store canceled while it waits changes nothing`() async throws {
        try await cache.store(bytes(10), for: key("a"))
        await cache.flush()
        let lock = try lockDatabase()
        let first = Task { [cache] in try await cache.store(bytes(20), for: key("b")) }
        try await eventually { await cache.data(for: key("b")) != nil }
        let second = Task { [cache] in try await cache.store(bytes(30), for: key("a")) }
        try await eventually { await cache.data(for: key("a")) == bytes(30) }

        second.cancel()

        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(await cache.data(for: key("a")) == bytes(10))
        try lock.execute("COMMIT")
        try await first.value
        #expect(await cache.data(for: key("a")) == bytes(10))
        #expect(cache.statistics.failures == 0)
    }

    @Test func `the last requested write takes effect`() {
        var writes = WriteQueue()
        let old = CachedData(bytes(1))
        let new = CachedData(bytes(2))

        let first = writes.add(.store(old, key("a")))
        let second = writes.add(.store(new, key("a")))
        #expect(writes.lookUp(for: key("a")).entry == new)
        writes.finish(first, .success(0))
        #expect(writes.lookUp(for: key("a")).entry == new)
        let removal = writes.add(.remove(key("a")))
        #expect(writes.lookUp(for: key("a")).isAbsent)
        writes.finish(second, .success(0))
        #expect(writes.lookUp(for: key("a")).isAbsent)
        writes.finish(removal, .success(1))

        #expect(writes.lookUp(for: key("a")).isUnknown)
        #expect((try? writes.take(removal)?.get()) == 1)
        #expect(writes.take(removal) == nil)
    }

    @Test func `removing a resource or everything hides earlier writes and not later ones`() {
        var writes = WriteQueue()
        let entry = CachedData(bytes(1))
        _ = writes.add(.store(entry, key("a")))
        let resource = writes.add(.removeResource(ResourceKey("a")))
        #expect(writes.lookUp(for: key("a")).isAbsent)
        #expect(writes.lookUp(for: key("a", variant: "small")).isAbsent)
        #expect(writes.lookUp(for: key("b")).isUnknown)
        _ = writes.add(.store(entry, key("a", variant: "small")))
        #expect(writes.lookUp(for: key("a", variant: "small")).entry == entry)
        let everything = writes.add(.removeAll)
        #expect(writes.lookUp(for: key("b")).isAbsent)
        #expect(writes.lookUp(for: key("a", variant: "small")).isAbsent)
        _ = writes.add(.store(entry, key("b")))
        #expect(writes.lookUp(for: key("b")).entry == entry)
        #expect(writes.next(upTo: resource)?.ticket == 1)

        for ticket in 1...everything { writes.finish(ticket, .success(0)) }

        #expect(writes.lookUp(for: key("a")).isUnknown)
        #expect(writes.lookUp(for: key("b")).entry == entry)
        #expect(writes.next(upTo: everything) == nil)
    }

    @Test func `an earlier write takes effect again after later ones are withdrawn`() {
        var writes = WriteQueue()
        let (old, new) = (CachedData(bytes(1)), CachedData(bytes(2)))
        _ = writes.add(.store(old, key("a")))
        let removal = writes.add(.remove(key("a")))
        let second = writes.add(.store(new, key("a")))

        #expect(writes.take(second) == nil)
        #expect(writes.lookUp(for: key("a")).isAbsent)
        #expect(writes.take(removal) == nil)
        #expect(writes.lookUp(for: key("a")).entry == old)
    }

    @Test func `an earlier removal takes effect again after a later one is withdrawn`() {
        var writes = WriteQueue()
        let entry = CachedData(bytes(1))
        let resource = writes.add(.removeResource(ResourceKey("a")))
        let all = writes.add(.removeAll)
        _ = writes.add(.store(entry, key("a")))
        let laterResource = writes.add(.removeResource(ResourceKey("a")))
        let laterAll = writes.add(.removeAll)

        #expect(writes.take(laterAll) == nil)
        #expect(writes.lookUp(for: key("a")).isAbsent)
        #expect(writes.lookUp(for: key("b")).isAbsent)
        #expect(writes.take(laterResource) == nil)
        #expect(writes.lookUp(for: key("a")).entry == entry)
        #expect(writes.take(all) == nil)
        #expect(writes.lookUp(for: key("a", variant: "small")).isAbsent)
        #expect(writes.take(resource) == nil)
        #expect(writes.lookUp(for: key("a", variant: "small")).isUnknown)
    }

    @Test func `a canceled write has no outcome`() {
        var writes = WriteQueue()
        let ticket = writes.add(.store(CachedData(bytes(1)), key("a")))
        #expect(writes.hasStores(upTo: ticket))

        #expect(writes.take(ticket) == nil)

        #expect(writes.lookUp(for: key("a")).isUnknown)
        writes.finish(ticket, .success(0))
        #expect(writes.take(ticket) == nil)
        #expect(!writes.hasStores(upTo: ticket))
    }
}

extension WriteQueue.Lookup {
    fileprivate var entry: CachedData? {
        guard case .entry(let entry) = self else { return nil }
        return entry
    }

    fileprivate var isAbsent: Bool {
        guard case .absent = self else { return false }
        return true
    }

    fileprivate var isUnknown: Bool {
        guard case .unknown = self else { return false }
        return true
    }
}
