import TestSupport
import AlcedoCore
import AlcedoSQLiteCache
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(3)))
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

    @Test func `an entry counts for more than its bytes`() {
        #expect((1_100..<2_000).contains(entrySize))
    }

    @Test func `the least recently stored go first, down to nine tenths`() async throws {
        for index in 0..<10 { try await cache.store(Data(count: 1_000), for: key("\(index)")) }
        #expect(await cache.totalSize == entrySize * 10)

        try await cache.store(Data(count: 1_000), for: key("x"))

        await cache.flush()

        #expect(await cache.totalSize == entrySize * 9)
        #expect(await presence(of: ["0", "1", "2", "9", "x"]) == [false, false, true, true, true])
    }

    @Test func `reading an entry protects it`() async throws {
        for index in 0..<10 { try await cache.store(Data(count: 1_000), for: key("\(index)")) }
        _ = await cache.entry(for: key("0"))

        try await cache.store(Data(count: 1_000), for: key("x"))

        await cache.flush()
        #expect(await presence(of: ["0", "1", "2", "3", "x"]) == [true, false, false, true, true])
    }

    @Test func `the order of use survives the cache`() async throws {
        for index in 0..<10 { try await cache.store(Data(count: 1_000), for: key("\(index)")) }
        _ = await cache.entry(for: key("0"))
        await cache.flush()

        let next = SQLiteDiskCache(directory: directory.url, sizeLimit: entrySize * 10)
        try await next.store(Data(count: 1_000), for: key("x"))

        await next.flush()
        #expect(await presence(of: ["0", "1"]) == [true, false])
    }

    @Test func `an entry just below the limit stays alone`() async throws {
        for index in 0..<3 { try await cache.store(Data(count: 1_000), for: key("\(index)")) }

        try await cache.store(Data(count: entrySize * 10 - 300), for: key("x"))

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
        #expect(await presence(of: ["0", "x"]) == [true, false])
    }

    @Test(arguments: [0, -5, Int.min])
    func `a cache of no size takes nothing`(limit: Int) async throws {
        let none = SQLiteDiskCache(directory: directory.url, sizeLimit: limit)

        let error = await #expect(throws: DataCacheError.self) { try await none.store(Data(), for: key("0")) }

        #expect(error?.code == .tooLarge)
    }

    private func presence(of names: [String]) async -> [Bool] {
        let reader = SQLiteDiskCache(directory: directory.url)
        var result: [Bool] = []
        for name in names { result.append(await reader.entry(for: key(name)) != nil) }
        return result
    }
}
