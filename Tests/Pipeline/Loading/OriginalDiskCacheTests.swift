import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// A pipeline with one cache for original bytes and another one for processed images.
@Suite(.timeLimit(.minutes(10)))
struct OriginalDiskCacheTests {
    private let memory = DictionaryMemoryCache()
    private let images = FakeDataCache()
    private let originals = FakeDataCache()
    private let downloader = FakeDownloader(giving: level(7))

    private func pipeline(
        _ downloader: FakeDownloader? = nil, hasImages: Bool = true, memory: DictionaryMemoryCache? = nil
    ) -> ImagePipeline {
        ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader ?? self.downloader, codecs: FakeCodec().registry,
                memoryCache: memory ?? self.memory, diskCache: hasImages ? images : nil,
                originalDiskCache: originals, dataCachePolicy: .both, clock: ManualClock()))
    }

    private func bright(_ step: UInt8, of path: String = "a") throws -> ImageRequest {
        try web(path) { $0.processors = [Brighten(step: step)] }
    }

    @Test(
        arguments: [
            (.original, image: false, original: true), (.processed, image: true, original: false),
            (.both, image: true, original: true),
        ] as [(DataCachePolicy, image: Bool, original: Bool)])
    func `each kind of data is in its own cache`(policy: DataCachePolicy, image: Bool, original: Bool) async throws {
        let pipeline = pipeline()
        var request = try bright(1)
        request.dataCachePolicy = policy
        _ = try await pipeline.load(request)
        await pipeline.flush()

        #expect(Array(images.entries.value.keys) == (image ? [request.key] : []))
        #expect(Array(originals.entries.value.keys) == (original ? [request.originalKey] : []))
        var layers: CachedLayers = .memory
        if image { layers.insert(.processed) }
        if original { layers.insert(.original) }
        #expect(await pipeline.cache.contains(request) == layers)
    }

    @Test func `the original of an identifier, a file and a resource that varies is an original`() throws {
        #expect(try web("a").key.isOriginal)
        #expect(try web("a") { $0.additionalIdentifier = "7:target=;process=" }.key.isOriginal)
        #expect(try !bright(1).key.isOriginal)
        #expect(try !web("a") { $0.scale = 2 }.key.isOriginal)
        #expect(try !web("a") { $0.decoding.target = TargetSize(width: 1, height: 1) }.key.isOriginal)
        #expect(!ImageKey(ResourceKey("a"), variant: "of another form").isOriginal)
        var file = ImageRequest(source: .file("/a"))
        file.fileVersion = FileVersion(path: "/")
        #expect(!file.key.variant.isEmpty)
        #expect(file.key.isOriginal)
    }

    @Test func `the bytes and the images are found again in their caches`() async throws {
        let request = try bright(1)
        let first = pipeline()
        _ = try await first.load(request)
        await first.flush()

        let second = pipeline(FakeDownloader(giving: level(50)), memory: DictionaryMemoryCache())
        let image = try await second.load(request)
        #expect(image.image.level == 8)
        #expect(image.layer == .disk)
        let other = try await second.load(try bright(2))
        #expect(other.image.level == 9)
        #expect(other.layer == .disk)
        #expect(try await second.dataResponse(for: request).layer == .disk)
    }

    @Test func `without a cache for images only the bytes are stored`() async throws {
        let pipeline = pipeline(hasImages: false)
        let request = try bright(1)
        _ = try await pipeline.load(request)
        await pipeline.flush()
        try await pipeline.cache.store(.gray(side: 1, level: 3), for: try bright(2))
        await pipeline.flush()

        #expect(Array(originals.entries.value.keys) == [request.originalKey])
        #expect(await pipeline.cache.contains(request) == [.memory, .original])
    }

    @Test func `an image of the app replaces the bytes in their cache, and a processed one is with the images`()
        async throws
    {
        let pipeline = pipeline()
        let (original, bright) = (try web("a"), try bright(1))
        try await pipeline.cache.store(.gray(side: 1, level: 3), for: original)
        try await pipeline.cache.store(.gray(side: 1, level: 4), for: bright)

        #expect(originals.entries.value.mapValues(\.data) == [original.originalKey: level(3)])
        #expect(images.entries.value.mapValues(\.data) == [bright.key: level(4)])
    }

    @Test func `removals affect both caches`() async throws {
        let pipeline = pipeline()
        for request in try [bright(1), bright(2), bright(1, of: "b")] { _ = try await pipeline.load(request) }
        await pipeline.flush()

        await pipeline.cache.remove(try bright(1), from: .processed)
        #expect(await pipeline.cache.contains(try bright(1)) == [.memory, .original])
        await pipeline.cache.remove(try bright(1), from: .original)
        #expect(await pipeline.cache.contains(try bright(2)) == [.memory, .processed])
        await pipeline.cache.remove(try bright(1), allVariants: true)
        #expect(await pipeline.cache.contains(try bright(2)) == [])
        #expect(await pipeline.cache.contains(try bright(1, of: "b")) == [.memory, .disk])
        await pipeline.cache.removeAllImages()
        #expect(images.count == 0)
        #expect(originals.count == 0)
    }

    @Test func `damaged bytes are removed from their cache`() async throws {
        let pipeline = pipeline()
        let request = try bright(1)
        try await originals.store(CachedData(Data("fail:corrupt".utf8)), for: request.originalKey)
        try await images.store(CachedData(Data("fail:corrupt".utf8)), for: request.key)

        #expect(try await pipeline.load(request).image.level == 8)
        await pipeline.flush()
        #expect(originals.entries.value.mapValues(\.data) == [request.originalKey: level(7)])
        #expect(images.entries.value.mapValues(\.data) == [request.key: level(8)])
    }

    @Test func `data is stored with the bytes`() async throws {
        let pipeline = pipeline()
        #expect(try await pipeline.data(for: try bright(1)) == level(7))
        await pipeline.flush()
        #expect(originals.count == 1)
        #expect(images.count == 0)
    }

    @Test func `the fields by which a resource varies are with the bytes and apply to the images`() async throws {
        // The server names no field at first.
        let names = Watched<String?>(nil)
        let server = FakeDownloader { request, _ in
            guard case .http(let http) = request.source else { throw CancellationError() }
            let fields: HTTPFields = names.value.map { ["Vary": $0] } ?? [:]
            return Download(
                data: level(Int(http.fields["X-Token"] ?? "0") ?? 0),
                response: HTTPResponse(
                    head: HTTPResponseHead(url: http.url, status: 200, fields: fields), body: HTTPBody(Data())))
        }
        func request(_ token: String, _ step: UInt8 = 100) throws -> ImageRequest {
            let url = try #require(URL(string: "http://127.0.0.1/a"))
            let source = ImageSource.http(HTTPRequest(url: url, fields: ["X-Token": token]))
            return ImageRequest(source: source, processors: [Brighten(step: step)])
        }
        let pipeline = pipeline(server)
        _ = try await pipeline.load(try request("1"))
        await pipeline.flush()
        #expect(images.count == 1)
        #expect(originals.count == 1)

        names.update { $0 = "X-Token" }
        var reload = try request("2")
        reload.cachePolicy = .reload
        #expect(try await pipeline.load(reload).image.level == 102)
        await pipeline.flush()
        // The image and the bytes for everyone are gone, and a mark is with the bytes.
        #expect(images.entries.value.values.map(\.data) == [level(102)])
        #expect(originals.entries.value.values.map(\.data).sorted { $0.count < $1.count } == [Data(), level(2)])

        let next = self.pipeline(server, memory: DictionaryMemoryCache())
        #expect(try await next.load(try request("1")).image.level == 101)
        let stored = try await next.load(try request("2"))
        #expect(stored.image.level == 102)
        #expect(stored.layer == .disk)
        #expect(server.count == 3)
    }
}
