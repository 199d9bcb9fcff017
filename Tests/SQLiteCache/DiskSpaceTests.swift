import AlcedoCore
import AlcedoLibc
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoSQLiteCache

/// Sizes are the disk space that the entries occupy.
@Suite(.timeLimit(.minutes(10)))
struct DiskSpaceTests {
    private let directory: TemporaryDirectory
    /// The space that belongs to no entry.
    private static let spareSize = PageShare.spareCount * PageShare.pageSize

    init() throws { directory = try TemporaryDirectory() }

    private func cache(sizeLimit: Int) -> SQLiteDiskCache {
        SQLiteDiskCache(directory: directory.url, limits: DataCacheLimits(sizeLimit: sizeLimit))
    }

    /// The size of the database file after a checkpoint.
    private var databaseSize: Int {
        get throws {
            let connection = try Connection(path: directory.database.path, busyTimeout: 60_000)
            let count = try connection.firstRow("PRAGMA page_count") { Int($0.integer(0)) }
            return try #require(count) * PageShare.pageSize
        }
    }

    /// The bytes that the file system has allocated for values.
    private var valueSize: Int {
        directory.valueFiles.reduce(0) { sum, path in
            var status = stat()
            return lstat(path, &status) == 0 ? sum + Int(status.st_blocks) * 512 : sum
        }
    }

    private static let mixtures = [
        [10], [100], [2_050], [2_000, 4_000], [100, 3_960], [5_000], [33_000], [50, 900, 9_000, 40_000],
    ]

    @Test(arguments: mixtures)
    func `the limit bounds the disk usage of all files, in any order of removal`(counts: [Int]) async throws {
        let limit = 256 << 10
        let cache = cache(sizeLimit: limit)
        var random = SeededGenerator(seed: 3)
        let storeCount = 2 * limit / (counts.reduce(0, +) / counts.count + 300)

        for number in 0..<storeCount {
            try await cache.store(bytes(counts[number % counts.count], seed: number), for: key("\(number)"))
            // Entries that are read remain between those that are evicted.
            _ = await cache.entry(for: key("\(Int.random(in: 0...number, using: &random))"))
            if number % 3 == 0 { await cache.remove(key("\(Int.random(in: 0...number, using: &random))")) }
        }
        await cache.flush()

        let occupied = try databaseSize + valueSize
        #expect(occupied <= limit + Self.spareSize)
        #expect(await cache.totalSize <= limit)
        // The space is used, too.
        #expect(occupied >= limit / 2)
        #expect(await cache.items().reduce(0) { $0 + $1.size } == cache.totalSize)
    }

    @Test func `pages freed by small entries are returned for the files of large ones`() async throws {
        let limit = 1 << 20
        let cache = cache(sizeLimit: limit)
        for number in 0..<600 { try await cache.store(bytes(3_000), for: key("\(number)")) }
        await cache.flush()
        #expect(try databaseSize > limit / 2)

        for number in 0..<60 { try await cache.store(bytes(50_000), for: key("large \(number)")) }
        await cache.flush()

        #expect(try databaseSize + valueSize <= limit + Self.spareSize)
        #expect(valueSize > limit * 3 / 4)
    }

    @Test(arguments: [EntryTable.maximumInlineByteCount + 1, 40_960, 40_961, 100_000])
    func `a large value counts with the blocks of its file`(count: Int) async throws {
        let cache = cache(sizeLimit: 1 << 20)
        try await cache.store(CachedData(bytes(count), metadata: bytes(10)), for: key("a"))

        let share = PageShare.size(byteCount: 1 + 10)
        #expect(await cache.totalSize == valueSize + share)
        #expect(await cache.verify() == DataCacheVerification(checkedCount: 1, byteCount: valueSize + share))
        #expect(await cache.trim(toSize: 0).removals.map(\.size) == [(count + 4095) / 4096 * 4096 + share])
        #expect(valueSize == 0)
    }

    @Test func `a value whose blocks exceed the limit is refused and changes nothing`() async throws {
        let share = PageShare.size(byteCount: 1)
        try await cache(sizeLimit: 1 << 20).store(bytes(10), for: key("a"))
        // The length alone would fit.
        let cache = cache(sizeLimit: 40_960 + share - 1)

        let error = await #expect(throws: DataCacheError.self) { try await cache.store(bytes(40_000), for: key("a")) }

        #expect(error?.code == .tooLarge)
        #expect(await cache.data(for: key("a")) == bytes(10))
        #expect(directory.valueFiles.isEmpty)
        try await self.cache(sizeLimit: 40_960 + share).store(bytes(40_000), for: key("a"))
        #expect(await cache.data(for: key("a")) == bytes(40_000))
    }

    /// A row that fits in a page, and one with its own pages.
    @Test func `rows that do not share pages count with whole pages`() {
        #expect(PageShare.size(byteCount: 2_050) - PageShare.size(byteCount: 1_900) == 2_048)
        #expect(PageShare.size(byteCount: 3_000) == PageShare.size(byteCount: 2_050))
        for byteCount in [4_033, 4_034, 5_000, 8_191, 32_768, 10_000_000] {
            let size = PageShare.size(byteCount: byteCount)
            // Each page contains the number of the next one.
            let whole = byteCount + byteCount / 1_000
            #expect(size > byteCount, "\(byteCount)")
            #expect(size < whole + 2 * PageShare.pageSize, "\(byteCount)")
        }
    }
}
