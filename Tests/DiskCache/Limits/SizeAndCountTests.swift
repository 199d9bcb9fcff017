import AlcedoCore
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

@Suite(.timeLimit(.minutes(10)))
struct SizeAndCountTests {
    private let directory: TemporaryDirectory
    private let reports = TrimReports()

    init() throws { directory = try TemporaryDirectory() }

    private func cache(_ limits: DataCacheLimits) -> FileDiskCache {
        FileDiskCache(directory: directory.url, limits: limits, onTrim: { [reports] in reports.add($0) })
    }

    private func name(_ number: Int) -> String { key("\(number)").fileName }

    private func names(in cache: FileDiskCache) async -> [String] { await cache.items().map(\.name) }

    @Test func `the default limits are 256 MiB and any number of entries`() {
        #expect(DataCacheLimits().sizeLimit == 256 << 20)
        #expect(DataCacheLimits().countLimit == .max)
    }

    @Test func `a trim over the size limit keeps the target share, the most recently used`() async throws {
        let cache = cache(DataCacheLimits(sizeLimit: 10 * block + block / 2, trimTarget: 0.5))
        for number in 0..<10 { try await cache.store(bytes(1000), for: key("\(number)")) }
        await cache.flush()
        #expect(reports.all.isEmpty)
        #expect(await cache.count == 10)
        _ = await cache.entry(for: key("0"))

        try await cache.store(bytes(1000), for: key("10"))
        await cache.flush()

        #expect(await names(in: cache) == [7, 8, 9, 0, 10].map(name))
        // A sixth entry would occupy more than half of the limit.
        #expect(await cache.totalSize == 5 * block)
    }

    @Test func `a trim reports names, bytes and reasons in the order of eviction`() async throws {
        let cache = cache(DataCacheLimits(sizeLimit: 10 * block + block / 2, trimTarget: 0.5))
        for number in 0..<11 { try await cache.store(bytes(1000), for: key("\(number)")) }
        await cache.flush()
        await reports.waitForRemovals(count: 6)

        #expect(reports.removals.map(\.name) == (0..<6).map(name))
        #expect(reports.removals.allSatisfy { $0.size == block && $0.evictionReason == .costLimit })
        #expect(reports.removals.allSatisfy { $0.storedAt == $0.lastUse && $0.expiry == nil })
        #expect(reports.all.reduce(0) { $0 + $1.byteCount } == 6 * block)
        #expect(cache.statistics.evictions == [.costLimit: 6])
        for number in 0..<6 { #expect(!FileManager.default.fileExists(atPath: directory.file("\(number)"))) }
    }

    @Test func `a trim that began within the limits leaves the excess to the next one`() throws {
        let store = try #require(cache(DataCacheLimits(sizeLimit: 10 * block + block / 2, trimTarget: 0.5)).engine)
            .store
        for number in 0..<10 { try store.store(CachedData(bytes(1000)), for: key("\(number)")) }
        var early = store.limitTrim
        try store.store(CachedData(bytes(1000)), for: key("10"))

        while !store.advance(&early) {}
        var late = store.limitTrim
        while !store.advance(&late) {}

        #expect(early.report.removals.isEmpty)
        #expect(late.report.removals.map(\.name) == (0..<6).map(name))
    }

    @Test(arguments: [10, 1000, 5000, 40_000])
    func `the limit bounds the blocks of the entries, whatever their length`(count: Int) async throws {
        let cache = cache(DataCacheLimits(sizeLimit: 40 * block))
        for number in 0..<60 { try await cache.store(bytes(count + number), for: key("\(number)")) }
        await cache.flush()

        #expect(directory.fileSizes <= 40 * block)
        #expect(directory.fileSizes >= 25 * block)
        #expect(await cache.totalSize == directory.fileSizes)
        #expect(await cache.items().reduce(0) { $0 + $1.size } == directory.fileSizes)
        let trimmed = await cache.trim(toSize: 0)
        #expect(trimmed.byteCount >= 25 * block)
        #expect(trimmed.removals.allSatisfy { $0.size % block == 0 })
    }

    private static let usages: [(length: Int, blocks: Int, blockSize: Int, expected: Int)] = [
        // The file system's count if it is large enough, including preallocated blocks.
        (1, 8, 4096, 4096), (8192, 16, 4096, 8192), (5000, 128, 4096, 65_536), (0, 0, 4096, 0),
        // Data that the file system has not allocated yet, compresses, or stores with the metadata.
        (5000, 0, 4096, 8192), (8192, 8, 4096, 8192), (8193, 1, 4096, 12_288), (600, 1, 512, 1024), (10, 0, 0, 512),
        // A transfer size, and numbers that no file has.
        (10, 0, 1 << 20, 65_536), (.max, 0, 4096, .max), (10, .max, 4096, .max),
    ]

    @Test(arguments: usages)
    func `a file counts with its blocks and at least with its length`(
        length: Int, blocks: Int, blockSize: Int, expected: Int
    ) {
        #expect(DiskUsage.byteCount(length: length, blocks: blocks, blockSize: blockSize) == expected)
    }

    @Test func `a trim over the count limit keeps the target share`() async throws {
        let cache = cache(DataCacheLimits(countLimit: 20, trimTarget: 0.8))
        for number in 0..<20 { try await cache.store(bytes(10), for: key("\(number)")) }
        await cache.flush()
        #expect(await cache.count == 20)
        #expect(reports.all.isEmpty)

        try await cache.store(bytes(10), for: key("20"))
        await cache.flush()
        await reports.waitForRemovals(count: 5)

        #expect(await names(in: cache) == (5...20).map(name))
        #expect(reports.removals.allSatisfy { $0.evictionReason == .countLimit })
        #expect(reports.removals.map(\.name) == (0..<5).map(name))
    }

    @Test(arguments: [0, -1, .nan, 1, 2, 0.001])
    func `any trim target keeps the last stored entry, within the limits`(target: Double) async throws {
        let cache = cache(DataCacheLimits(sizeLimit: 5 * block, trimTarget: target))
        for number in 0..<8 {
            try await cache.store(bytes(1000), for: key("\(number)"))
            #expect(await cache.data(for: key("\(number)")) == bytes(1000))
        }
        await cache.flush()
        #expect(await cache.totalSize <= 5 * block)
        #expect(await cache.contains(key("7")))
        #expect(await cache.totalSize == directory.fileSizes)
    }

    @Test(arguments: [
        DataCacheLimits(sizeLimit: 0), DataCacheLimits(sizeLimit: -1), DataCacheLimits(sizeLimit: .min),
        DataCacheLimits(countLimit: 0),
        DataCacheLimits(countLimit: .min),
    ])
    func `a limit of zero or less stores nothing and removes the stored entries`(limits: DataCacheLimits) async throws {
        try await FileDiskCache(directory: directory.url).store(bytes(10), for: key("old"))
        let cache = cache(limits)

        let error = await #expect(throws: DataCacheError.self) { try await cache.store(bytes(0), for: key("a")) }

        #expect(error?.code == .tooLarge)
        #expect(await cache.data(for: key("a")) == nil)
        #expect(cache.statistics.failures == 1)
        #expect(cache.statistics.stores == 0)
        await cache.trim()
        #expect(await cache.count == 0)
        #expect(directory.files.isEmpty)
    }

    @Test func `an entry of exactly the limit is stored, and one of a byte more is not`() async throws {
        let cache = cache(DataCacheLimits(sizeLimit: 2 * block))
        // Including its trailer and key.
        let whole = bytes(2 * block - 57)
        try await cache.store(whole, for: key("1"))
        await cache.flush()
        #expect(await cache.data(for: key("1")) == whole)
        #expect(await cache.totalSize == 2 * block)

        let error = await #expect(throws: DataCacheError.self) {
            try await cache.store(bytes(whole.count + 1), for: key("2"))
        }

        #expect(error?.code == .tooLarge)
        // The number of entries is not limited.
        #expect(error?.message.hasSuffix(" bytes exceeds the limit of \(2 * block) bytes") == true)
        #expect(await cache.data(for: key("1")) == whole)
        #expect(directory.unfinished.isEmpty)
        try await cache.store(bytes(999), for: key("3"))
        await cache.flush()
        #expect(await names(in: cache) == [key("3").fileName])
    }

    @Test func `a replaced entry counts with its new size`() async throws {
        let cache = cache(DataCacheLimits(sizeLimit: 5 * block, trimTarget: 1))
        for number in 0..<3 { try await cache.store(bytes(1000), for: key("\(number)")) }
        try await cache.store(bytes(5 * block - 100), for: key("0"))
        await cache.flush()

        #expect(await names(in: cache) == [name(0)])
        #expect(await cache.totalSize == directory.fileSizes)

        try await cache.store(bytes(10), for: key("0"))
        for number in 1..<4 { try await cache.store(bytes(1000), for: key("\(number)")) }
        await cache.flush()
        #expect(await cache.count == 4)
    }

    @Test func `a requested trim goes below the limits, down to zero`() async throws {
        let cache = cache(DataCacheLimits())
        for number in 0..<10 { try await cache.store(bytes(1000), for: key("\(number)")) }

        let byCount = await cache.trim(toSize: .max, count: 7)
        #expect(byCount.removals.map(\.name) == (0..<3).map(name))
        #expect(byCount.removals.allSatisfy { $0.evictionReason == .trimmed })

        let bySize = await cache.trim(toSize: 4 * block)
        #expect(bySize.removals.map(\.name) == (3..<6).map(name))
        #expect(await cache.totalSize == 4 * block)
        #expect(await cache.trim(toSize: 4 * block).removals.isEmpty)
        #expect(reports.all == [byCount, bySize])

        #expect(await cache.trim(toSize: -1, count: -1).removals.count == 4)
        #expect(await cache.count == 0)
        #expect(directory.files.isEmpty)
    }

    @Test func `cleaning a cache within its limits changes nothing`() async throws {
        let cache = cache(DataCacheLimits())
        #expect(await cache.trim().removals.isEmpty)
        #expect(directory.files.isEmpty)
        try await cache.store(bytes(10), for: key("a"))
        #expect(await cache.trim().removals.isEmpty)
        #expect(await cache.count == 1)
    }

    @Test func `cleaning enforces the limits of a cache that has not stored`() async throws {
        let roomy = FileDiskCache(directory: directory.url)
        for number in 0..<10 { try await roomy.store(bytes(1000), for: key("\(number)")) }
        await roomy.flush()

        let report = await cache(DataCacheLimits(countLimit: 4, trimTarget: 1)).trim()

        #expect(report.removals.map(\.name) == (0..<6).map(name))
        #expect(await roomy.count == 4)
    }

    @Test func `the order of use survives a restart`() async throws {
        let first = cache(DataCacheLimits())
        for number in 0..<6 { try await first.store(bytes(10), for: key("\(number)")) }
        for number in [4, 0, 2, 0] { _ = await first.entry(for: key("\(number)")) }
        _ = await first.mappedEntry(for: key("1"))
        _ = await first.chunks(for: key("5"))
        await first.flush()

        let second = cache(DataCacheLimits())
        #expect(await names(in: second) == [3, 4, 2, 0, 1, 5].map(name))
        _ = await second.entry(for: key("3"))
        #expect(await second.trim(toSize: .max, count: 2).removals.map(\.name) == [4, 2, 0, 1].map(name))
    }

    @Test func `a caller that stores faster than the background trims does the trim itself`() async throws {
        let cache = cache(DataCacheLimits(countLimit: 50))
        let index = try #require(cache.engine).store.index
        let most = Watched(0)
        // The background work waits behind all of these.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                group.addTask {
                    try await cache.store(bytes(10), for: key("\(number)"))
                    let count = index.read(\.count)
                    most.update { $0 = max($0, count) }
                }
            }
            try await group.waitForAll()
        }
        // An excess of a tenth, plus the entry that exceeds the limit.
        #expect(most.value <= 56)
        await cache.flush()
        #expect(await cache.count <= 50)
    }
}
