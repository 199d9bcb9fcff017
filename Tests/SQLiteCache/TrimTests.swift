import TestSupport
import AlcedoCore
import AlcedoSQLiteCache
import AlcedoTesting
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(10)))
struct TrimTests {
    private let directory: TemporaryDirectory
    /// Holds ten entries of `entrySize` bytes.
    private let cache: SQLiteDiskCache
    private let entrySize: Int

    init() async throws {
        directory = try TemporaryDirectory()
        let measure = SQLiteDiskCache(directory: directory.url.appending(path: "measure"))
        try await measure.store(Data(count: 1_000), for: key("0"))
        entrySize = await measure.totalSize
        cache = SQLiteDiskCache(directory: directory.url, sizeLimit: entrySize * 10)
    }

    @Test func `the size of an entry exceeds its number of bytes`() {
        #expect((1_100..<2_000).contains(entrySize))
    }

    @Test func `the least recently stored entries are evicted first, down to nine tenths of the limit`() async throws {
        for index in 0..<10 { try await cache.store(Data(count: 1_000), for: key("\(index)")) }
        #expect(await cache.totalSize == entrySize * 10)

        try await cache.store(Data(count: 1_000), for: key("x"))

        await cache.flush()

        #expect(await cache.totalSize == entrySize * 9)
        #expect(await presence(of: ["0", "1", "2", "9", "x"]) == [false, false, true, true, true])
    }

    @Test func `an entry that was read is evicted after unread ones`() async throws {
        for index in 0..<10 { try await cache.store(Data(count: 1_000), for: key("\(index)")) }
        _ = await cache.entry(for: key("0"))

        try await cache.store(Data(count: 1_000), for: key("x"))

        await cache.flush()
        #expect(await presence(of: ["0", "1", "2", "3", "x"]) == [true, false, false, true, true])
    }

    @Test func `the order of use survives a restart`() async throws {
        for index in 0..<10 { try await cache.store(Data(count: 1_000), for: key("\(index)")) }
        _ = await cache.entry(for: key("0"))
        await cache.flush()

        let next = SQLiteDiskCache(directory: directory.url, sizeLimit: entrySize * 10)
        try await next.store(Data(count: 1_000), for: key("x"))

        await next.flush()
        #expect(await presence(of: ["0", "1"]) == [true, false])
    }

    @Test func `an entry just below the limit is stored alone`() async throws {
        for index in 0..<3 { try await cache.store(Data(count: 1_000), for: key("\(index)")) }

        try await cache.store(Data(count: entrySize * 10 - 1_000), for: key("x"))

        await cache.flush()
        #expect(await presence(of: ["0", "1", "2", "x"]) == [false, false, false, true])
        #expect(await cache.totalSize <= entrySize * 10)
    }

    @Test func `an entry beyond the limit is refused and evicts nothing`() async throws {
        try await cache.store(Data(count: 1_000), for: key("0"))

        let error = await #expect(throws: DataCacheError.self) {
            try await cache.store(Data(count: entrySize * 10), for: key("x"))
        }

        #expect(error?.code == .tooLarge)
        #expect(error?.message.contains("\(Int.max)") == false)
        #expect(await presence(of: ["0", "x"]) == [true, false])
    }

    @Test(arguments: [0, -5, Int.min])
    func `a size limit of zero stores nothing`(limit: Int) async throws {
        let none = SQLiteDiskCache(directory: directory.url, sizeLimit: limit)

        let error = await #expect(throws: DataCacheError.self) { try await none.store(Data(), for: key("0")) }

        #expect(error?.code == .tooLarge)
    }

    @Test func `the number of entries is limited, too`() async throws {
        let few = SQLiteDiskCache(directory: directory.url, limits: DataCacheLimits(countLimit: 20))
        for index in 0..<20 { try await few.store(Data(count: 10), for: key("\(index)")) }
        await few.flush()
        #expect(await few.count == 20)

        try await few.store(Data(count: 10), for: key("x"))
        await few.flush()

        #expect(await few.count == 18)
        #expect(await presence(of: ["2", "3", "x"]) == [false, true, true])
    }

    @Test(arguments: [0, -1, Int.min])
    func `an entry limit of zero stores nothing`(count: Int) async throws {
        let none = SQLiteDiskCache(directory: directory.url, limits: DataCacheLimits(countLimit: count))

        let error = await #expect(throws: DataCacheError.self) { try await none.store(Data(), for: key("0")) }

        #expect(error?.code == .tooLarge)
        #expect(none.statistics.failures == 1)
    }

    @Test func `a trim reports entries and reasons in order`() async throws {
        let reports = Watched<[DataCacheTrimReport]>([])
        let limits = DataCacheLimits(sizeLimit: entrySize * 10)
        let cache = SQLiteDiskCache(directory: directory.url, limits: limits) { report in
            reports.update { $0.append(report) }
        }
        for index in 0..<10 { try await cache.store(Data(count: 1_000), for: key("\(index)")) }
        await cache.flush()
        #expect(reports.value.isEmpty)

        try await cache.store(Data(count: 1_000), for: key("x"))
        await cache.flush()

        #expect(reports.value.count == 1)
        let removals = reports.value.flatMap(\.removals)
        #expect(removals.map(\.name) == ["0", "1"].map { key($0).fileName })
        #expect(removals.allSatisfy { $0.size == entrySize && $0.evictionReason == .costLimit && $0.expiry == nil })
        #expect(removals.allSatisfy { $0.storedAt == $0.lastUse })
        #expect(cache.statistics.evictions == [.costLimit: 2])

        let report = await cache.trim(toSize: .max, count: 6)

        #expect(report.removals.map(\.name) == ["2", "3", "4"].map { key($0).fileName })
        #expect(report.removals.allSatisfy { $0.evictionReason == .trimmed })
        #expect(report.byteCount == entrySize * 3)
        #expect(reports.value.last == report)
        #expect(await cache.trim(toSize: .max).removals.isEmpty)
        #expect(reports.value.count == 2)
    }

    @Test func `a trim to zero removes everything`() async throws {
        for index in 0..<10 { try await cache.store(Data(count: 1_000), for: key("\(index)")) }

        let report = await cache.trim(toSize: 0)

        #expect(report.removals.count == 10)
        #expect(await cache.count == 0)
    }

    @Test func `a lower limit applies from the first store on`() async throws {
        for index in 0..<10 { try await cache.store(Data(count: 1_000), for: key("\(index)")) }
        let lower = SQLiteDiskCache(directory: directory.url, sizeLimit: entrySize * 4)

        try await lower.store(Data(count: 1_000), for: key("x"))
        await lower.flush()

        // The trim of the opened cache may see the new entry or not, and leaves one entry less if it does.
        #expect(await [3, 4].contains(lower.count))
        #expect(await presence(of: ["6", "8", "9", "x"]) == [false, true, true, true])
    }

    @Test func `stores wait for a trim only when it is far behind`() async throws {
        let limits = DataCacheLimits(sizeLimit: entrySize * 100)
        let cache = SQLiteDiskCache(directory: directory.url, limits: limits)

        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for index in 0..<100 {
                        try await cache.store(Data(count: 1_000), for: key("\(task) \(index)"))
                        let size = await cache.totalSize
                        #expect(size <= entrySize * 120)
                    }
                }
            }
            try await group.waitForAll()
        }
        await cache.flush()

        #expect(await cache.totalSize <= limits.sizeLimit)
        #expect(await cache.count >= 80)
    }

    @Test func `many uses are written without a flush`() async throws {
        let cache = SQLiteDiskCache(directory: directory.url)
        let names = (0..<70).map { "\($0)" }
        for name in names { try await cache.store(Data(count: 10), for: key(name)) }
        await cache.flush()
        // No flush, because the sixty-fourth use causes the write.
        for name in names.prefix(64) { _ = await cache.entry(for: key(name)) }

        let other = SQLiteDiskCache(directory: directory.url)
        let expected = (names.suffix(6) + names.prefix(64)).map { key($0).fileName }
        try await eventually { await other.items().map(\.name) == expected }
    }

    @Test func `the uses of two caches on one directory keep their order`() async throws {
        let clock = ManualClock()
        let caches = (0..<2).map { _ in SQLiteDiskCache(directory: directory.url, clock: clock) }
        for name in ["a", "b", "c", "d"] { try await caches[0].store(Data(count: 10), for: key(name)) }
        clock.advance(by: .seconds(1))
        _ = await caches[1].entry(for: key("b"))
        clock.advance(by: .seconds(1))
        _ = await caches[0].entry(for: key("a"))
        clock.advance(by: .seconds(1))
        _ = await caches[1].entry(for: key("c"))
        for cache in caches { await cache.flush() }

        #expect(await caches[0].items().map(\.name) == ["d", "b", "a", "c"].map { key($0).fileName })
    }

    @Test func `a released cache writes its uses`() async throws {
        try await cache.store(Data(count: 10), for: key("a"))
        try await cache.store(Data(count: 10), for: key("b"))
        await { _ = await SQLiteDiskCache(directory: directory.url).entry(for: key("a")) }()

        let expected = ["b", "a"].map { key($0).fileName }
        try await eventually { await cache.items().map(\.name) == expected }
    }

    private func presence(of names: [String]) async -> [Bool] {
        let reader = SQLiteDiskCache(directory: directory.url)
        var result: [Bool] = []
        for name in names { result.append(await reader.entry(for: key(name)) != nil) }
        return result
    }
}
