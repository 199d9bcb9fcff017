import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

/// Containers and machines with different boot IDs that share a directory.
@Suite(.timeLimit(.minutes(10)))
struct ManyBootsTests {
    private let directory: TemporaryDirectory
    private let index: IndexBytes
    private let clock = ManualClock()

    init() throws {
        directory = try TemporaryDirectory()
        index = IndexBytes(directory)
    }

    private func store(boot: UInt64) throws -> EntryStore {
        let paths = try #require(EntryPaths(directory.url, pathExtension: nil))
        return EntryStore(
            paths, limits: DataCacheLimits(), durability: .none, lockTimeout: .seconds(300), clock: clock,
            bootHash: boot)
    }

    /// Each listing of the directory rewrites the index.
    private var generation: UInt64 { get throws { try index.header.generation } }

    @Test(arguments: [2, 5, IndexHeader.maximumBootCount])
    func `caches of different boots list the directory once each`(bootCount: Int) throws {
        let stores = try (1...UInt64(bootCount)).map { try store(boot: $0) }
        var generations: Set<UInt64> = []
        let changeCount = 4 * bootCount

        for number in 0..<changeCount {
            let store = stores[number % bootCount]
            try store.store(CachedData(bytes(number)), for: key("\(number)"))
            generations.insert(try generation)
            #expect(store.index.totals.count == number + 1)
        }

        #expect(generations.count == bootCount)
        for store in stores { #expect(store.index.totals.count == changeCount) }
    }

    @Test func `a cache of a later boot lists the directory, and the others continue without listing`() throws {
        let stores = try [1, 2].map { try store(boot: $0) }
        for (number, store) in stores.enumerated() { try store.store(CachedData(bytes(9)), for: key("\(number)")) }
        // The state after a power failure: a file without a record, and a record without a file.
        let other = try TemporaryDirectory()
        let paths = try #require(EntryPaths(other.url, pathExtension: nil))
        let source = EntryStore(
            paths, limits: DataCacheLimits(), durability: .none, lockTimeout: .seconds(300), clock: clock)
        try source.store(CachedData(bytes(5)), for: key("lost"))
        let place = URL(filePath: directory.file("lost"))
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        try #require(FileManager.default.contents(atPath: other.file("lost"))).write(to: place)
        try FileManager.default.removeItem(atPath: directory.file("0"))

        let restarted = try store(boot: 3)

        #expect(restarted.index.totals.count == 2)
        let listed = try generation
        for store in stores {
            #expect(store.index.totals.count == 2)
            try store.store(CachedData(bytes(7)), for: key("lost"))
        }
        #expect(try generation == listed)
        #expect(try index.header.bootHashes == [3, 2, 1])
    }

    @Test func `a boot followed by too many others lists the directory again`() throws {
        for boot in 1...UInt64(IndexHeader.maximumBootCount + 1) {
            try store(boot: boot).store(CachedData(bytes(1)), for: key("\(boot)"))
        }
        let before = try generation

        #expect(try store(boot: 1).index.totals.count == IndexHeader.maximumBootCount + 1)

        #expect(try generation != before)
        #expect(try index.header.bootHashes.count == IndexHeader.maximumBootCount)
    }

    @Test func `compaction keeps the boots of an index`() throws {
        let stores = try [1, 2].map { try store(boot: $0) }
        for (number, store) in stores.enumerated() { try store.store(CachedData(bytes(9)), for: key("\(number)")) }
        let before = try generation
        let entry = try #require(stores[0].index.read(\.entries).first)
        try stores[0].index.change { change throws(DataCacheError) in
            try change.append((0..<10_000).map { _ in .entry(entry) })
        }

        #expect(try generation != before)
        #expect(try index.header.bootHashes == [1, 2])
    }
}
