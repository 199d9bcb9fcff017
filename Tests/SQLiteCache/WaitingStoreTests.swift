import AlcedoCore
import Dispatch
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoSQLiteCache

@Suite(.timeLimit(.minutes(10)))
struct WaitingStoreTests {
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

    @Test func `reads wait for no store`() async throws {
        try await cache.store(bytes(10), for: key("a"))
        await cache.flush()
        let lock = try lockDatabase()
        let store = Task { [cache] in try await cache.store(bytes(40_000), for: key("a")) }

        // The store cannot end before the lock is released.
        #expect(await cache.data(for: key("a")) == bytes(10))
        #expect(await cache.contains(key("a")))
        #expect(await cache.count == 1)
        try lock.execute("COMMIT")
        try await store.value

        #expect(await cache.data(for: key("a")) == bytes(40_000))
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
        let release = DispatchSemaphore(value: 0)
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let other = Task { [cache] in
            try await cache.storage.change { _ in
                start.finish()
                release.wait()
            }
        }
        for await _ in started {}
        let store = Task { [cache] in try await cache.store(bytes(30), for: key("a")) }
        try await eventually { cache.storage.writer.waitingCount == 1 }

        store.cancel()

        await #expect(throws: CancellationError.self) { try await store.value }
        release.signal()
        _ = try await other.value
        #expect(await cache.data(for: key("a")) == bytes(10))
        #expect(cache.statistics.failures == 0)
    }
}
