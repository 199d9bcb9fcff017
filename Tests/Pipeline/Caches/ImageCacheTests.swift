import AlcedoCore
import AlcedoDiskCache
import AlcedoMemoryCache
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ImageCacheTests {
    private let parts = ImageCacheParts()

    private func image(_ level: UInt8) -> DecodedImage { .gray(side: 1, level: level) }

    // MARK: Names

    @Test func `images with the same name in Kingfisher have different keys`() {
        #expect(ImageCache.imageKey("a@b") != ImageCache.imageKey("a", processorIdentifier: "b"))
        #expect(ImageCache.imageKey("http://a/b") == ImageKey(ResourceKey("http://a/b")))
    }

    @Test func `a disk cache on files returns the path of an image by its key`() async throws {
        let directory = try TemporaryDirectory()
        let files = FileDiskCache(directory: directory.url, pathExtension: "img")
        let cache = ImageCache(codecs: parts.codec.registry, diskCache: files)
        let key = ImageCache.imageKey("a", processorIdentifier: "p")
        let path = try #require(files.path(for: key))
        let name = key.fileName
        #expect(name == ImageKey(ResourceKey("a"), variant: "p").fileName)
        // A part of the name may become a directory.
        #expect(name.hasSuffix(path.deletingPathExtension().lastPathComponent))
        #expect(path.pathExtension == "img")

        try await cache.store(image(7), forKey: "a", processorIdentifier: "p")

        #expect(FileManager.default.fileExists(atPath: path.path))
    }

    // MARK: Storing

    @Test func `an image is in memory at once, and on disk once the store is awaited`() async throws {
        let cache = parts.cache()
        cache.startStoring(image(7), forKey: "a")
        #expect(cache.imageInMemory(forKey: "a")?.level == 7)
        await cache.flush()
        #expect(parts.stored("a") == level(7))

        #expect(try await cache.store(image(8), forKey: "b"))
        #expect(parts.stored("b") == level(8))
        #expect(cache.imageInMemory(forKey: "b")?.level == 8)
    }

    @Test func `an original is stored unchanged`() async throws {
        let cache = parts.cache()
        try await cache.store(image(7), original: Data("level:007".utf8), forKey: "a")
        #expect(parts.stored("a") == Data("level:007".utf8))
    }

    @Test func `images of one key with different processors are separate`() async throws {
        let cache = parts.cache()
        try await cache.store(image(1), forKey: "a")
        try await cache.store(image(2), original: level(1), forKey: "a", processorIdentifier: "p")
        await cache.removeAll(from: .memory)
        #expect(try await cache.image(forKey: "a")?.image.level == 1)
        #expect(try await cache.image(forKey: "a", processorIdentifier: "p")?.image.level == 2)
        #expect(try await cache.image(forKey: "a@p") == nil)
    }

    @Test func `an image excluded from the disk is not written`() async throws {
        let cache = parts.cache()
        #expect(try await !cache.store(image(7), forKey: "a", toDisk: false))
        await cache.flush()
        #expect(parts.disk.entries.value.isEmpty)
        #expect(cache.imageInMemory(forKey: "a") != nil)
    }

    @Test func `a partial image is not stored`() async throws {
        let cache = parts.cache()
        var part = image(7)
        part.partialError = ImageDecodingError(.truncated, "the end is missing")
        #expect(try await !cache.store(part, forKey: "a"))
        #expect(parts.memory.count == 0)
        #expect(parts.disk.stores.value == 0)
    }

    @Test func `a store throws the error of the disk`() async throws {
        let parts = ImageCacheParts(
            disk: FakeDataCache(beforeStore: { number in if number > 1 { throw DataCacheError(.noSpace, "full") } }))
        let cache = parts.cache()
        try await cache.store(image(1), forKey: "a")

        await #expect(throws: DataCacheError(.noSpace, "full")) { try await cache.store(image(2), forKey: "a") }
        // An entry that is no longer valid is not found again.
        #expect(parts.stored("a") == nil)
        #expect(cache.imageInMemory(forKey: "a")?.level == 2)
    }

    @Test func `an image that the serializer cannot encode is stored in memory only`() async throws {
        struct Nothing: CacheSerializer {
            let identifier = "nothing"

            func bytes(
                of image: DecodedImage, original: Data?, in context: CacheSerializationContext
            ) -> (data: Data, isOriginal: Bool)? { nil }
        }
        try await parts.cache().store(image(1), forKey: "a")
        let cache = parts.cache { $0.serializer = Nothing() }
        #expect(try await !cache.store(image(2), forKey: "a"))
        #expect(cache.imageInMemory(forKey: "a")?.level == 2)
        #expect(parts.stored("a") == nil)
    }

    @Test func `a serializer learns the key, and that there is no request`() async throws {
        let serializer = AddingSerializer(number: 10)
        let cache = parts.cache { $0.serializer = serializer }
        try await cache.store(image(1), forKey: "a")
        try await cache.store(image(2), forKey: "a", processorIdentifier: "p")
        await cache.removeAll(from: .memory)
        #expect(try await cache.image(forKey: "a")?.image.level == 11)
        #expect(try await cache.image(forKey: "a", processorIdentifier: "p")?.image.level == 12)

        for contexts in [serializer.writes.value, serializer.reads.value] {
            let keys = [ImageCache.imageKey("a"), ImageCache.imageKey("a", processorIdentifier: "p")]
            #expect(contexts.map(\.key) == keys)
            #expect(contexts.map(\.isProcessed) == [false, true])
            #expect(contexts.allSatisfy { $0.request == nil })
        }
    }

    @Test func `the scale is read from disk`() async throws {
        let cache = parts.cache()
        var image = image(7)
        image.scale = 2.5
        try await cache.store(image, original: level(7), forKey: "a")
        await cache.removeAll(from: .memory)
        #expect(try await cache.image(forKey: "a")?.image.scale == 2.5)
        #expect(parts.stored("a") == level(7))
    }

    @Test(arguments: ["", "notes", "0123456789", "\u{A1}23456789"])
    func `an entry with foreign metadata is read with default values`(notes: String) async throws {
        let entry = CachedData(level(7), metadata: Data(notes.utf8))
        try await parts.disk.store(entry, for: ImageCache.imageKey("a"))
        let hit = try #require(try await parts.cache().image(forKey: "a"))
        #expect(hit.image.scale == 1)
        #expect(!hit.needsProcessing)
        #expect(hit.image.level == 7)
    }

    @Test func `an original served for a processed image is marked and not stored in memory as processed`()
        async throws
    {
        let cache = parts.cache { $0.serializer = DefaultCacheSerializer(prefersOriginalData: true) }
        try await cache.store(image(9), original: level(1), forKey: "a", processorIdentifier: "p")
        #expect(try await cache.image(forKey: "a", processorIdentifier: "p")?.needsProcessing == false)
        await cache.removeAll(from: .memory)
        for _ in 0..<2 {
            let hit = try #require(try await cache.image(forKey: "a", processorIdentifier: "p"))
            #expect(hit.needsProcessing)
            #expect(hit.image.level == 1)
            #expect(hit.layer == .disk)
        }
        #expect(parts.memory.count == 0)
    }

    // MARK: Reading

    @Test func `an image found on disk is stored in memory`() async throws {
        try await parts.disk.store(level(7), for: ImageCache.imageKey("a"))
        let cache = parts.cache()
        #expect(cache.imageInMemory(forKey: "a") == nil)
        #expect(try await cache.image(forKey: "a")?.layer == .disk)
        #expect(try await cache.image(forKey: "a")?.layer == .memory)
        #expect(cache.imageInMemory(forKey: "a")?.level == 7)
        #expect(try await cache.image(forKey: "b") == nil)
    }

    @Test func `memory or disk cache may be absent`() async throws {
        let onDisk = parts.cache { $0.memoryCache = nil }
        onDisk.startStoring(image(7), forKey: "a")
        // Not flushed, because a read sees earlier requests.
        #expect(try await onDisk.image(forKey: "a")?.layer == .disk)
        #expect(await onDisk.cachedLayer(forKey: "a") == .disk)

        let inMemory = parts.cache { $0.diskCache = nil }
        #expect(try await inMemory.image(forKey: "a") == nil)
        #expect(try await !inMemory.store(image(7), forKey: "a"))
        #expect(try await inMemory.image(forKey: "a")?.layer == .memory)
        #expect(await inMemory.remove(forKey: "a"))
        #expect(await inMemory.cachedLayer(forKey: "a") == nil)
    }

    @Test func `looking up the layer of an image reads nothing and counts no use`() async throws {
        let memory = ImageMemoryCache(costLimit: 2 * image(1).cost, policy: .lru)
        let cache = parts.cache { $0.memoryCache = memory }
        for name in ["a", "b"] { cache.startStoring(image(1), forKey: name, toDisk: false) }
        try await parts.disk.store(level(7), for: ImageCache.imageKey("c"))

        #expect(await cache.cachedLayer(forKey: "a") == .memory)
        #expect(await cache.cachedLayer(forKey: "c") == .disk)
        #expect(await cache.cachedLayer(forKey: "a", processorIdentifier: "p") == nil)

        #expect(parts.disk.reads.value == 0)
        #expect(memory.statistics.hits == 0)
        cache.startStoring(image(1), forKey: "d", toDisk: false)
        #expect(await cache.cachedLayer(forKey: "a") == nil)
        #expect(await cache.cachedLayer(forKey: "b") == .memory)
    }

    @Test(arguments: ["fail:corrupt", "fail:truncated", "nothing", ""])
    func `bytes that are not an image are removed and are a miss`(content: String) async throws {
        try await parts.disk.store(Data(content.utf8), for: ImageCache.imageKey("a"))
        #expect(try await parts.cache().image(forKey: "a") == nil)
        #expect(parts.disk.entries.value.isEmpty)
    }

    @Test func `an image over the decoding limits is an error and stays on disk`() async throws {
        try await parts.disk.store(Data("fail:exceedsLimit".utf8), for: ImageCache.imageKey("a"))
        await #expect(throws: ImageDecodingError.self) { try await parts.cache().image(forKey: "a") }
        #expect(parts.disk.entries.value.count == 1)
    }

    // MARK: Removing

    @Test func `removing works for memory, disk or both`() async throws {
        let cache = parts.cache()
        try await cache.store(image(7), forKey: "a")
        #expect(await cache.remove(forKey: "a", from: .memory))
        #expect(await cache.cachedLayer(forKey: "a") == .disk)
        _ = try await cache.image(forKey: "a")
        #expect(await cache.remove(forKey: "a", from: .disk))
        #expect(await cache.cachedLayer(forKey: "a") == .memory)
        #expect(await !cache.remove(forKey: "a", from: .disk))
        #expect(await cache.remove(forKey: "a"))
        #expect(await !cache.remove(forKey: "a"))
        #expect(await cache.cachedLayer(forKey: "a") == nil)
    }

    @Test func `removing all variants of a key removes its processed images`() async throws {
        let cache = parts.cache()
        for processor in ["", "p", "q"] { try await cache.store(image(1), forKey: "a", processorIdentifier: processor) }
        try await cache.store(image(1), forKey: "b")
        #expect(await cache.removeAll(forKey: "a") == 3)
        #expect(await cache.removeAll(forKey: "a") == 0)
        #expect(parts.memory.count == 1)
        #expect(parts.disk.entries.value.count == 1)
    }

    @Test func `clearing one layer keeps the other`() async throws {
        let cache = parts.cache()
        try await cache.store(image(7), forKey: "a")
        await cache.removeAll(from: .memory)
        #expect(await cache.cachedLayer(forKey: "a") == .disk)
        _ = try await cache.image(forKey: "a")
        await cache.removeAll(from: .disk)
        #expect(parts.disk.entries.value.isEmpty)
        #expect(await cache.cachedLayer(forKey: "a") == .memory)
        _ = try await cache.store(image(8), forKey: "b")
        await cache.removeAll()
        #expect(parts.disk.entries.value.isEmpty)
        #expect(parts.memory.count == 0)
    }

    // MARK: Maintaining

    @Test func `cleaning returns the removed entries, and the size is the remaining one`() async throws {
        let directory = try TemporaryDirectory()
        let cleaned = Watched<[[String]]>([])
        let limits = DataCacheLimits(maximumAge: .seconds(100))
        let files = FileDiskCache(directory: directory.url, limits: limits, clock: parts.clock)
        let cache = parts.cache {
            $0.diskCache = files
            $0.onClean = { names in cleaned.update { $0.append(names) } }
        }
        try await cache.store(image(1), forKey: "old", processorIdentifier: "p")
        parts.clock.advance(by: .seconds(60))
        cache.startStoring(image(1), forKey: "new")
        #expect(await cache.totalDiskSize == files.totalSize)
        #expect(await files.count == 2)
        #expect(await cache.cleanExpired().isEmpty)
        parts.clock.advance(by: .seconds(60))

        let name = ImageCache.imageKey("old", processorIdentifier: "p").fileName
        #expect(await cache.cleanExpired() == [name])

        #expect(cleaned.value == [[name]])
        #expect(await cache.totalDiskSize > 0)
        #expect(await files.count == 1)
        #expect(await parts.cache().cleanExpired().isEmpty)
    }

    @Test func `statistics count each read and store once`() async throws {
        let parts = ImageCacheParts(
            disk: FakeDataCache(beforeStore: { number in
                if number == 2 { throw DataCacheError(.noSpace, "full") }
            }))
        let cache = parts.cache()
        try await cache.store(image(7), forKey: "a")
        await cache.removeAll(from: .memory)
        #expect(try await cache.image(forKey: "a") != nil)
        #expect(cache.imageInMemory(forKey: "a") != nil)
        #expect(try await cache.image(forKey: "b") == nil)
        await #expect(throws: DataCacheError.self) { try await cache.store(image(8), forKey: "b") }
        try await cache.store(image(9), forKey: "c", toDisk: false)

        let statistics = cache.statistics
        #expect(statistics.hits == 2)
        #expect(statistics.misses == 1)
        #expect(statistics.stores == 2)
        #expect(statistics.failures == 1)
        #expect(statistics.damagedEntries == 0)
    }
}
