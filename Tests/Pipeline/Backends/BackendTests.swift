import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// The same pipeline, and the same image cache, over every data cache.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct BackendTests {
    private let resources: BackendResources
    private let downloader = FakeDownloader { request, _ in
        guard case .http(let http) = request.source else { throw CancellationError() }
        return Download(data: level(http.url.path.utf8.count))
    }

    init() throws { resources = try BackendResources() }

    /// Returns a pipeline whose only cache is the data cache.
    private func pipeline(_ cache: any DataCaching, _ downloader: FakeDownloader? = nil) -> ImagePipeline {
        ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader ?? self.downloader, codecs: FakeCodec().registry,
                memoryCache: DictionaryMemoryCache(), diskCache: cache, writeTimeout: .seconds(3_600)))
    }

    @Test(arguments: Backend.available)
    func `an image loaded by one pipeline is found by another without the network`(backend: Backend) async throws {
        let cache = try await backend.make(in: resources)
        let first = pipeline(cache)
        for name in ["a", "ab", "abc"] { #expect(try await first.load(try web(name)).layer == .network) }
        await first.flush()

        let second = pipeline(cache)
        for name in ["a", "ab", "abc"] {
            let response = try await second.load(try web(name) { $0.cachePolicy = .cacheOnly })
            #expect(response.layer == .disk)
            #expect(Int(response.image.level) == name.count + 1)
        }
        #expect(downloader.count == 3)
        #expect(await cache.count == 3)
    }

    @Test(arguments: Backend.available)
    func `a variant and its original are separate, and one original serves all variants`(backend: Backend) async throws
    {
        let cache = try await backend.make(in: resources)
        let (original, variant) = (try web("a"), try web("a") { $0.processors = [Brighten(step: 5)] })
        let first = pipeline(cache)
        #expect(try await first.load(variant).image.level == 7)
        await first.flush()
        #expect(await cache.contains(original.originalKey))
        #expect(await !cache.contains(variant.key))
        try await cache.store(level(99), for: variant.key)

        let second = pipeline(cache)
        #expect(try await second.load(original).image.level == 2)
        #expect(try await second.load(variant).image.level == 7)
        #expect(downloader.count == 1)
    }

    @Test(arguments: Backend.available)
    func `a processed image is not processed further after its original has changed`(backend: Backend) async throws {
        let cache = try await backend.make(in: resources)
        let number = Watched(100)
        let server = FakeDownloader { _, _ in Download(data: level(number.value)) }
        func request(_ steps: [UInt8]) throws -> ImageRequest {
            try web("a") {
                $0.processors = steps.map { Brighten(step: $0) }
                $0.dataCachePolicy = .both
            }
        }
        let first = pipeline(cache, server)
        _ = try await first.load(try request([1]))
        await first.flush()
        let used = pipeline(cache, server)
        #expect(try await used.load(try request([1, 4])).image.level == 105)
        #expect(server.count == 1)
        number.update { $0 = 110 }
        var original = try request([])
        original.cachePolicy = .reload
        _ = try await first.load(original)
        await first.flush()

        let second = pipeline(cache, server)
        let response = try await second.load(try request([1, 2]))

        #expect(response.image.level == 113)
        #expect(response.layer == .disk)
        #expect(server.count == 2)
    }

    @Test(arguments: Backend.available)
    func `a removed resource is loaded again with all its variants`(backend: Backend) async throws {
        let cache = try await backend.make(in: resources)
        let first = pipeline(cache)
        for name in ["a", "b"] { _ = try await first.load(try web(name)) }
        await first.flush()
        try await cache.store(level(9), for: try web("a") { $0.processors = [Brighten(step: 5)] }.key)

        #expect(await cache.removeAll(of: try web("a").originalKey.resource) == 2)

        let second = pipeline(cache)
        #expect(try await second.load(try web("b")).layer == .disk)
        #expect(try await second.load(try web("a")).layer == .network)
    }

    @Test(arguments: Backend.available)
    func `bytes that are not an image are replaced`(backend: Backend) async throws {
        let cache = try await backend.make(in: resources)
        try await cache.store(Data("fail:corrupt".utf8), for: try web("a").originalKey)
        let pipeline = pipeline(cache)
        #expect(try await pipeline.load(try web("a")).layer == .network)
        await pipeline.flush()
        #expect(await cache.data(for: try web("a").originalKey) == level(2))
    }

    @Test(arguments: Backend.available)
    func `an image cache stores originals and processed images`(backend: Backend) async throws {
        let data = try await backend.make(in: resources)
        let cache = ImageCache(
            codecs: FakeCodec().registry, memoryCache: DictionaryMemoryCache(), diskCache: data)
        var image = DecodedImage.gray(side: 1, level: 7)
        image.scale = 2
        try await cache.store(image, original: level(7), forKey: "a")
        cache.startStoring(.gray(side: 1, level: 8), forKey: "a", processorIdentifier: "p")
        await cache.flush()
        await cache.removeAll(from: .memory)

        #expect(await cache.cachedLayer(forKey: "a") == .disk)
        let hit = try #require(try await cache.image(forKey: "a"))
        #expect(hit.image.level == 7)
        #expect(hit.image.scale == 2)
        #expect(hit.layer == .disk)
        #expect(try await cache.image(forKey: "a", processorIdentifier: "p")?.image.level == 8)
        #expect(await cache.totalDiskSize >= 2 * level(7).count)

        #expect(await cache.removeAll(forKey: "a") == 2)
        #expect(await cache.cachedLayer(forKey: "a") == nil)
        #expect(await cache.cachedLayer(forKey: "a", processorIdentifier: "p") == nil)
    }

    @Test func `a pipeline's images are found by an image cache over the same data cache`() async throws {
        let data = try await Backend.memory.make(in: resources)
        let pipeline = pipeline(data)
        _ = try await pipeline.load(try web("a"))
        await pipeline.flush()
        let cache = ImageCache(codecs: FakeCodec().registry, diskCache: data)
        #expect(try await cache.image(forKey: "http://127.0.0.1/a")?.image.level == 2)
    }
}
