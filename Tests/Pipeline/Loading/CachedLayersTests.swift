import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CachedLayersTests {
    /// A response cache with the responses that a test stores.
    private struct Responses: ResponseCacheAccess {
        let urls = Watched<Set<URL>>([])
        /// Runs before a removal.
        let beforeRemoval = Watched<@Sendable () async -> Void>({})

        func hasResponse(for request: HTTPRequest, ignoringMemory: Bool) async -> Bool {
            urls.value.contains(request.url)
        }

        func removeAllResponses(for request: HTTPRequest) async {
            await beforeRemoval.value()
            urls.update { _ = $0.remove(request.url) }
        }

        func removeAll() async {
            await beforeRemoval.value()
            urls.update { $0.removeAll() }
        }
    }

    private let responses = Responses()
    private let memory = DictionaryMemoryCache()
    private let disk = FakeDataCache()

    private func pipeline(_ downloader: FakeDownloader) -> ImagePipeline {
        var downloader = downloader
        downloader.responseCache = responses
        return ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader, codecs: FakeCodec().registry, memoryCache: memory, diskCache: disk,
                dataCachePolicy: .both, writeTimeout: .seconds(3_600)))
    }

    /// A downloader that returns the image after a second.
    private func waiting(for clock: ManualClock) -> FakeDownloader {
        FakeDownloader { _, _ in
            try await clock.sleep(for: .seconds(1))
            return Download(data: level(7))
        }
    }

    private func bright(_ step: UInt8) throws -> ImageRequest {
        try web("a") { $0.processors = [Brighten(step: step)] }
    }

    @Test func `the cached layers of an image are listed and can be removed individually`() async throws {
        let pipeline = pipeline(FakeDownloader(giving: level(7)))
        let request = try bright(1)
        #expect(await pipeline.cache.contains(request) == [])
        _ = try await pipeline.load(request)
        await pipeline.flush()
        if case .http(let http) = request.source { responses.urls.update { _ = $0.insert(http.url) } }
        #expect(await pipeline.cache.contains(request) == .all)

        await pipeline.cache.remove(request, from: .processed)
        #expect(await pipeline.cache.contains(request) == [.memory, .original, .response])
        await pipeline.cache.remove(request, from: [.memory, .response])
        #expect(await pipeline.cache.contains(request) == .original)
        await pipeline.cache.remove(request)
        #expect(await pipeline.cache.contains(request) == [])
    }

    @Test func `removing all variants removes them together and no other resource`() async throws {
        let pipeline = pipeline(FakeDownloader(giving: level(7)))
        for request in try [bright(1), bright(2), web("b")] { _ = try await pipeline.load(request) }
        await pipeline.flush()

        await pipeline.cache.remove(try bright(1))
        #expect(await pipeline.cache.contains(try bright(2)).contains([.memory, .processed]))
        await pipeline.cache.remove(try bright(1), allVariants: true)
        #expect(await pipeline.cache.contains(try bright(2)) == [])
        #expect(await pipeline.cache.contains(try web("b")) == [.memory, .original])
    }

    @Test func `removing everything includes the response cache, and removing all images does not`() async throws {
        let pipeline = pipeline(FakeDownloader(giving: level(7)))
        let request = try web("a")
        _ = try await pipeline.load(request)
        await pipeline.flush()
        if case .http(let http) = request.source { responses.urls.update { _ = $0.insert(http.url) } }

        await pipeline.cache.removeAllImages()
        #expect(await pipeline.cache.contains(request) == .response)
        await pipeline.cache.removeAll()
        #expect(await pipeline.cache.contains(request) == [])
    }

    @Test func `a load in progress when its image is removed stores nothing`() async throws {
        let clock = ManualClock()
        let pipeline = pipeline(waiting(for: clock))
        let request = try bright(1)
        let load = Task { try await pipeline.load(request).image.level }
        try await clock.waitForSleepers(count: 1)

        await pipeline.cache.remove(request)
        clock.advance(by: .seconds(1))

        #expect(try await load.value == 8)
        await pipeline.flush()
        #expect(await pipeline.cache.contains(request) == [])
    }

    @Test(arguments: [true, false])
    func `a load that begins during a removal stores nothing of what it finds`(all: Bool) async throws {
        let pipeline = pipeline(FakeDownloader(giving: level(7)))
        let request = try web("a")
        // The response cache still has the image.
        responses.beforeRemoval.update { $0 = { _ = try? await pipeline.load(request) } }

        if all { await pipeline.cache.removeAll() } else { await pipeline.cache.remove(request) }

        await pipeline.flush()
        #expect(await pipeline.cache.contains(request) == [])
    }

    @Test func `the responses to the URL that a modifier selects are removed`() async throws {
        let pipeline = pipeline(FakeDownloader(giving: level(7)))
        let signed = try #require(URL(string: "http://127.0.0.1/a?signature=1"))
        let request = try web("a") {
            $0.additionalIdentifier = "account"
            $0.modifyRequest = { $0.url = signed }
        }
        responses.urls.update { $0 = [signed] }
        #expect(await pipeline.cache.contains(request) == .response)
        await pipeline.cache.remove(request)
        #expect(await pipeline.cache.contains(request) == [])
    }

    @Test func `a load that joins a download from before a removal stores nothing`() async throws {
        let clock = ManualClock()
        let pipeline = pipeline(waiting(for: clock))
        let (one, two) = (try bright(1), try bright(2))
        let first = Task { try await pipeline.load(one).image.level }
        try await clock.waitForSleepers(count: 1)

        await pipeline.cache.remove(one, allVariants: true)
        // An immediate task has joined when it returns here.
        let second = Task.immediate { try await pipeline.load(two).image.level }
        clock.advance(by: .seconds(1))

        #expect(try await first.value == 8)
        #expect(try await second.value == 9)
        await pipeline.flush()
        for request in [one, two] { #expect(await pipeline.cache.contains(request) == []) }
    }

    @Test func `a load stores its image although many other images are removed meanwhile`() async throws {
        let clock = ManualClock()
        let pipeline = pipeline(waiting(for: clock))
        let request = try bright(1)
        let load = Task { try await pipeline.load(request).image.level }
        try await clock.waitForSleepers(count: 1)

        for number in 0..<1_000 { await pipeline.cache.remove(try web("other/\(number)"), allVariants: true) }
        clock.advance(by: .seconds(1))

        #expect(try await load.value == 8)
        await pipeline.flush()
        #expect(await pipeline.cache.contains(request) == [.memory, .processed, .original])
    }

    @Test func `removing an image does not wait for the write of another image`() async throws {
        let mechanics = ManualClock()
        let disk = FakeDataCache { _ in try await mechanics.sleep(for: .seconds(1)) }
        let stack = Stack(FakeDownloader(giving: level(7)), disk: disk)
        _ = try await stack.load(web("a"))
        try await mechanics.waitForSleepers(count: 1)

        await stack.pipeline.cache.remove(try web("b"), allVariants: true)

        #expect(mechanics.sleeperCount == 1)
        mechanics.advance(by: .seconds(1))
        await stack.pipeline.flush()
        #expect(stack.stored(try web("a")) == level(7))
    }

    @Test func `the presets of NSURLRequest behave as documented`() async throws {
        let rows: [(HTTPCachePolicy, memory: CachePolicy.Access, disk: CachePolicy.Access, network: Bool)] = [
            (.useProtocolCachePolicy, .all, .all, true), (.reloadIgnoringLocalCacheData, .write, .write, true),
            (.reloadIgnoringLocalAndRemoteCacheData, .write, .write, true),
            (.returnCacheDataElseLoad, .all, .all, true),
            (.returnCacheDataDontLoad, .all, .all, false), (.reloadRevalidatingCacheData, .write, .write, true),
        ]
        for row in rows {
            let policy = CachePolicy(row.0)
            #expect(policy.memory == row.memory)
            #expect(policy.disk == row.disk)
            #expect(policy.allowsNetwork == row.network)
            let downloader = FakeDownloader(giving: level(7))
            let pipeline = pipeline(downloader)
            _ = try await pipeline.load(try web("\(row.0)") { $0.cachePolicy = policy })
            guard case .http(let http) = downloader.requests.value.first?.source else { continue }
            #expect(http.cachePolicy == row.0)
        }
    }

    @Test func `without network access only the response cache may serve a request`() async throws {
        let downloader = FakeDownloader { request, _ in
            guard case .http(let http) = request.source, http.cachePolicy == .returnCacheDataDontLoad else {
                return Download(data: level(9))
            }
            throw HTTPTransportError(.notCached, "nothing is stored")
        }
        let offline = try web("a") { $0.cachePolicy = .cacheOnly }
        let error = await #expect(throws: PipelineError.self) { try await pipeline(downloader).load(offline) }
        #expect(error?.code == .notInCache)
        #expect(downloader.count == 1)
        // Without a response cache the downloader could access the network.
        let bare = Stack(FakeDownloader(giving: level(9)))
        #expect(try await bare.failure(offline).code == .notInCache)
        #expect(bare.downloader.count == 0)
    }
}
