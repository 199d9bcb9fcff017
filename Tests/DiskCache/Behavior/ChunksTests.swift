import AlcedoCore
import AlcedoDiskCache
import AlcedoLibc
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ChunksTests {
    private let directory: TemporaryDirectory
    private let cache: FileDiskCache

    init() throws {
        directory = try TemporaryDirectory()
        cache = FileDiskCache(directory: directory.url)
    }

    private func chunks(_ name: String = "a", size: Int = 4096) async throws -> DiskEntryChunks {
        try #require(await cache.chunks(for: key(name), chunkSize: size))
    }

    @Test(arguments: [0, 1, 4095, 4096, 4097, 8192, 100_000], [4096, 5000, 64 << 10])
    func `an entry is read in chunks of the requested size`(count: Int, size: Int) async throws {
        try await cache.store(CachedData(bytes(count), metadata: bytes(11)), for: key("a"))
        let chunks = try await chunks(size: size)
        #expect(chunks.count == count)
        #expect(chunks.metadata == bytes(11))
        #expect(chunks.expiry == nil)

        // Twice, because the chunks can be iterated again.
        for _ in 0..<2 {
            var all: [Data] = []
            for try await chunk in chunks { all.append(chunk) }
            #expect(all.dropLast().allSatisfy { $0.count == size })
            #expect(all.allSatisfy { $0.startIndex == 0 && !$0.isEmpty })
            #expect(all.reduce(Data(), +) == bytes(count))
        }
    }

    @Test(arguments: [Int.min, -1, 0, 1])
    func `any chunk size of at least one byte works`(size: Int) async throws {
        try await cache.store(bytes(10_000), for: key("a"))
        var count = 0
        for try await _ in try await chunks(size: size) { count += 1 }
        #expect(count == 3)
    }

    @Test func `damage at any position is found before the first chunk is returned`() async throws {
        let entry = CachedData(bytes(10_000), metadata: bytes(5))
        try await cache.store(entry, for: key("a"))
        let whole = try #require(FileManager.default.contents(atPath: directory.file("a")))
        for offset in Array(stride(from: 0, to: whole.count, by: 977)) + Array(whole.count - 62..<whole.count) {
            try await cache.store(entry, for: key("a"))
            // In its current state, because its dates differ each time.
            let now = try #require(FileManager.default.contents(atPath: directory.file("a")))
            let file = open(directory.file("a"), O_WRONLY)
            #expect(pwrite(file, [now[offset] ^ 0x20], 1, off_t(offset)) == 1)
            close(file)

            #expect(await cache.chunks(for: key("a")) == nil, "byte \(offset)")
            #expect(access(directory.file("a"), F_OK) != 0, "byte \(offset)")
        }
        #expect(await cache.chunks(for: key("nobody")) == nil)
    }

    @Test func `reading completes although the entry is replaced or removed meanwhile`() async throws {
        try await cache.store(bytes(100_000), for: key("a"))
        let chunks = try await chunks()
        var all = Data()
        for try await chunk in chunks {
            switch all.count {
            case 0: try await cache.store(bytes(50_000, seed: 7), for: key("a"))
            case 4096: await cache.remove(key("a"))
            case 8192: await cache.removeAll()
            default: break
            }
            all += chunk
        }
        #expect(all == bytes(100_000))
        #expect(await cache.chunks(for: key("a")) == nil)
    }

    @Test func `a file that is truncated while it is read throws an error`() async throws {
        try await cache.store(bytes(100_000), for: key("a"))
        let chunks = try await chunks()
        #expect(truncate(directory.file("a"), 50_000) == 0)
        var count = 0
        await #expect(throws: DataCacheError.self) {
            for try await chunk in chunks { count += chunk.count }
        }
        #expect(count <= 50_000)
    }

    @Test func `reading chunks counts as a use`() async throws {
        for name in ["a", "b"] { try await cache.store(bytes(10), for: key(name)) }
        _ = try await chunks("a")
        #expect(await cache.items().map(\.name) == ["b", "a"].map { key($0).fileName })
        #expect(cache.statistics.hits == 1)
    }

    @Test(arguments: [0, 1, 4096, 3_000_000])
    func `a mapped entry equals the stored one and stays valid after its removal`(count: Int) async throws {
        let entry = CachedData(bytes(count), metadata: bytes(9), expiry: Date(timeIntervalSince1970: 4e9))
        try await cache.store(entry, for: key("a"))
        let mapped = try #require(await cache.mappedEntry(for: key("a")))
        await cache.removeAll()
        #expect(mapped == entry)
    }

    @Test func `a damaged entry is not mapped`() async throws {
        try await cache.store(bytes(10_000), for: key("a"))
        let file = open(directory.file("a"), O_WRONLY)
        #expect(pwrite(file, [bytes(10_000)[5000] ^ 1], 1, 5000) == 1)
        close(file)
        #expect(await cache.mappedEntry(for: key("a")) == nil)
        #expect(directory.files.isEmpty)
        #expect(cache.statistics.damagedEntries == 1)
    }
}
