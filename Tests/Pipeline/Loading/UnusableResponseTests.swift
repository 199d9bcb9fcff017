import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import AlcedoURLResponseCache
import FoundationEssentials
import TestSupport
import Testing

/// Responses that are stored as fresh, and are not images, or only damaged ones.
@Suite(.timeLimit(.minutes(10)))
struct UnusableResponseTests {
    private let clock = ManualClock()
    /// The body that the server sends; nil while it cannot be reached.
    private let body = Watched<Data?>(nil)
    private let storage = FakeDataCache()

    static let unusable = [
        "<html>Please log in</html>", "", "fail:truncated", "fail:corrupt", "fail:decoderFailed", "lev",
    ]

    /// Where the response cache keeps the responses.
    enum Place: CaseIterable { case memory, disk }

    private func server(_ fields: HTTPFields = ["Cache-Control": "max-age=3600"]) -> FakeTransport {
        FakeTransport { [body, clock] request in
            guard let body = body.value else { throw HTTPTransportError(.offline, "no network") }
            var fields = fields
            fields["Date"] = HTTPDate.format(clock.now)
            let isKnown = fields["ETag"] != nil && request.fields["If-None-Match"] == fields["ETag"]
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: isKnown ? 304 : 200, fields: fields),
                body: HTTPBody(isKnown ? Data() : body))
        }
    }

    /// Begins a process: memory is empty, and the disk stays.
    private func pipeline(
        _ server: FakeTransport, _ place: Place = .memory, knowsCache: Bool = true, codecs: CodecRegistry? = nil,
        failures: FailureCache? = nil, memory: (any MemoryCaching)? = nil, disk: FakeDataCache? = nil
    ) -> ImagePipeline {
        let responses = URLResponseCache(
            memoryLimit: place == .memory ? 1 << 20 : 0, disk: place == .disk ? storage : nil, clock: clock)
        var configuration = DownloaderConfiguration()
        configuration.failureCache = failures
        return ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(
                    transport: CachingTransport(wrapping: server, cache: responses), configuration: configuration,
                    responseCache: knowsCache ? responses : nil, clock: clock),
                codecs: codecs ?? FakeCodec().registry, memoryCache: memory, diskCache: disk, clock: clock))
    }

    private func set(_ text: String?) { body.update { $0 = text.map { Data($0.utf8) } } }

    private func level(_ pipeline: ImagePipeline, _ request: ImageRequest? = nil) async throws -> UInt8 {
        try await pipeline.load(request ?? web("a")).image.level
    }

    private func failure(_ pipeline: ImagePipeline, _ request: ImageRequest? = nil) async throws
        -> PipelineError.Code?
    {
        do {
            _ = try await pipeline.load(request ?? web("a"))
            return nil
        } catch let error as PipelineError {
            return error.code
        }
    }

    @Test(arguments: unusable, Place.allCases)
    func `a mended server is asked at the next load after a second`(text: String, place: Place) async throws {
        let server = server()
        let pipeline = pipeline(server, place)
        set(text)
        #expect(try await failure(pipeline) != nil)
        set("level:5")
        // Within a second, the stored response is used.
        #expect(try await failure(pipeline) != nil)
        #expect(server.requests.count == 1)

        clock.advance(by: .seconds(1))
        #expect(try await level(pipeline) == 5)
        #expect(server.requests.count == 2)
        #expect(server.requests.last?.fields["If-None-Match"] == nil)
        // The image replaces the stored response, which is fresh as HTTP says.
        #expect(try await level(pipeline) == 5)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: unusable, [true, false])
    func `the next process asks a mended server at its first load`(text: String, knowsCache: Bool) async throws {
        let server = server()
        set(text)
        #expect(try await failure(pipeline(server, .disk)) != nil)
        set("level:5")

        let next = pipeline(server, .disk, knowsCache: knowsCache)
        #expect(try await level(next) == 5)
        #expect(server.requests.count == 2)
        #expect(try await level(pipeline(server, .disk)) == 5)
        #expect(server.requests.count == 2)
    }

    @Test func `a server that stays broken is asked at intervals that double`() async throws {
        let server = server()
        let pipeline = pipeline(server)
        set("<html>")
        var times: [Int] = []
        for second in 0...100 {
            let before = server.requests.count
            for _ in 0..<3 { #expect(try await failure(pipeline) == .decoding(.unknownFormat)) }
            if server.requests.count > before { times.append(second) }
            clock.advance(by: .seconds(1))
        }
        #expect(times == [0, 1, 3, 7, 15, 31, 61, 91])
        #expect(server.requests.count == times.count)

        // After an image, the intervals begin again.
        set("level:5")
        clock.advance(by: .seconds(30))
        #expect(try await level(pipeline) == 5)
        set("<html>")
        clock.advance(by: .seconds(3600))
        #expect(try await failure(pipeline) != nil)
        set("level:6")
        clock.advance(by: .seconds(1))
        #expect(try await level(pipeline) == 6)
    }

    @Test func `an unusable response that the server confirms is requested again without a condition, once`()
        async throws
    {
        let server = server(["Cache-Control": "no-cache", "ETag": "\"1\""])
        set("fail:truncated")
        #expect(try await failure(pipeline(server, .disk)) == .decoding(.truncated))
        set("level:5")
        // The entity tag has not changed: the stored bytes were damaged on the way.
        #expect(try await level(pipeline(server, .disk)) == 5)
        #expect(server.requests.map { $0.fields["If-None-Match"] } == [nil, "\"1\"", nil])

        set("fail:truncated")
        let broken = pipeline(self.server(["Cache-Control": "no-cache", "ETag": "\"1\""]), .memory)
        #expect(try await failure(broken) == .decoding(.truncated))
        clock.advance(by: .seconds(1))
        #expect(try await failure(broken) == .decoding(.truncated))
    }

    @Test func `offline, the load fails, and a later one succeeds`() async throws {
        let server = server()
        set("<html>")
        #expect(try await failure(pipeline(server, .disk)) != nil)
        set(nil)
        let pipeline = pipeline(server, .disk)
        #expect(try await failure(pipeline) == .download)
        #expect(try await failure(pipeline) == .decoding(.unknownFormat))
        #expect(server.requests.count == 2)

        let cacheOnly = try web("a") { $0.cachePolicy = .cacheOnly }
        clock.advance(by: .seconds(60))
        #expect(try await failure(pipeline, cacheOnly) == .decoding(.unknownFormat))
        #expect(server.requests.count == 2)

        set("level:5")
        #expect(try await level(pipeline) == 5)
        #expect(try await level(pipeline, cacheOnly) == 5)
    }

    @Test func `loads that wait for an unusable response share one further request`() async throws {
        let server = server()
        set("<html>")
        #expect(try await failure(pipeline(server, .disk)) != nil)
        set("level:5")

        let pipeline = pipeline(server, .disk)
        let tasks = (0..<6).map { number in
            Task {
                try await level(
                    pipeline, web("a") { $0.processors = (0..<number).map { Brighten(step: UInt8($0)) } })
            }
        }
        for (number, task) in tasks.enumerated() {
            #expect(try await task.value == UInt8(5 + (0..<number).reduce(0, +)))
        }
        // A load that begins after the second response may find the first one unusable for itself.
        #expect(server.requests.count <= 3)
    }

    @Test func `a partial image is shown, and replaced by a whole one when the server has it`() async throws {
        let server = server()
        let request = try web("a") { $0.decoding.tolerance = .missingPixels }
        set("part:4")
        let pipeline = pipeline(server)
        #expect(try await level(pipeline, request) == 4)
        #expect(try await level(pipeline, request) == 4)
        #expect(server.requests.count == 1)
        clock.advance(by: .seconds(1))
        set(nil)
        #expect(try await level(pipeline, request) == 4)
        clock.advance(by: .seconds(60))
        set("level:5")
        #expect(try await level(pipeline, request) == 5)
    }

    @Test(arguments: [true, false], Place.allCases)
    func `an image with wrong pixels is shown, and requested again after a second`(hasMemory: Bool, place: Place)
        async throws
    {
        let server = server()
        let disk = FakeDataCache()
        let pipeline = pipeline(server, place, memory: hasMemory ? DictionaryMemoryCache() : nil, disk: disk)
        let small = try web("a") { $0.processors = [Brighten(step: 1)] }
        set("wrong:4")
        for _ in 0..<2 { #expect(try await level(pipeline) == 4) }
        #expect(try await level(pipeline, small) == 5)
        #expect(server.requests.count == 1)
        #expect(try (pipeline.cachedImage(for: web("a")) != nil) == hasMemory)

        clock.advance(by: .seconds(1))
        #expect(try pipeline.cachedImage(for: web("a")) == nil)
        let cacheOnly = try web("a") { $0.cachePolicy = .cacheOnly }
        #expect(try await level(pipeline, cacheOnly) == 4)
        set(nil)
        #expect(try await level(pipeline) == 4)
        #expect(server.requests.count == 2)

        clock.advance(by: .seconds(2))
        set("level:6")
        #expect(try await level(pipeline) == 6)
        #expect(try await level(pipeline, small) == 7)
        #expect(server.requests.count == 3)
        clock.advance(by: .seconds(60))
        #expect(try await level(pipeline) == 6)
        #expect(server.requests.count == 3)
        #expect(try (pipeline.cachedImage(for: web("a")) != nil) == hasMemory)
        await pipeline.shutDown()
    }

    @Test(arguments: [true, false], Place.allCases)
    func `an image with wrong pixels that varies is requested again at most once a second`(
        isFirst: Bool, place: Place
    ) async throws {
        let server = server(["Cache-Control": "max-age=3600", "Vary": "X-Token"])
        set("wrong:4")
        // The bytes come from the server, or from the response cache that an earlier pipeline has filled.
        if !isFirst {
            let earlier = pipeline(server, .disk)
            #expect(try await level(earlier) == 4)
            await earlier.shutDown()
        }
        let pipeline = pipeline(server, isFirst ? place : .disk, memory: DictionaryMemoryCache())
        let count = isFirst ? 1 : 2
        for _ in 0..<3 { #expect(try await level(pipeline) == 4) }
        #expect(try pipeline.cachedImage(for: web("a")) != nil)
        #expect(server.requests.count == count)

        clock.advance(by: .seconds(isFirst ? 1 : 2))
        set("level:6")
        #expect(try await level(pipeline) == 6)
        #expect(try await level(pipeline, try web("a") { $0.processors = [Brighten(step: 1)] }) == 7)
        clock.advance(by: .seconds(60))
        #expect(try await level(pipeline) == 6)
        #expect(server.requests.count == count + 1)
        await pipeline.shutDown()
    }

    @Test func `an image with wrong pixels that the app stores is shown, and requested after a second`() async throws {
        let server = server()
        let pipeline = pipeline(server, memory: DictionaryMemoryCache())
        set("level:6")
        pipeline.cache[try web("a")] = try FakeCodec().registry.decode(Data("wrong:4".utf8))
        #expect(try pipeline.cachedImage(for: web("a"))?.level == 4)
        #expect(try await level(pipeline) == 4)
        #expect(server.requests.isEmpty)
        clock.advance(by: .seconds(1))
        #expect(try await level(pipeline) == 6)
        await pipeline.shutDown()
    }

    @Test func `a strict request leaves the damaged image to others`() async throws {
        let server = server()
        let pipeline = pipeline(server, memory: DictionaryMemoryCache())
        let strict = try web("a") { $0.decoding.tolerance = .harmless }
        set("wrong:4")
        #expect(try await level(pipeline) == 4)
        #expect(try await failure(pipeline, strict) == .decoding(.corrupt))
        #expect(try pipeline.cachedImage(for: web("a"))?.level == 4)
        clock.advance(by: .seconds(1))
        set(nil)
        #expect(try await level(pipeline) == 4)
    }

    @Test func `an image with wrong pixels is not kept for the next process`() async throws {
        let server = server()
        let disk = FakeDataCache()
        set("wrong:4")
        let first = pipeline(server, .disk, disk: disk)
        #expect(try await level(first) == 4)
        await first.shutDown()
        set(nil)
        #expect(try await level(pipeline(server, .disk, disk: disk)) == 4)
        set("level:5")
        let next = pipeline(server, .disk, disk: disk)
        #expect(try await level(next) == 5)
        await next.shutDown()
        set(nil)
        #expect(try await level(pipeline(server, .disk, disk: disk)) == 5)
    }

    @Test(arguments: ["II*\0", "\u{0}\u{0}\u{0}\u{18}ftypavif\u{0}\u{0}\u{0}\u{0}avifmif1"])
    func `bytes for which no codec is registered stay fresh`(text: String) async throws {
        let server = server()
        set(text)
        let pipeline = pipeline(server)
        for _ in 0..<3 {
            #expect(try await failure(pipeline) == .decoding(.unknownFormat))
            clock.advance(by: .seconds(60))
        }
        #expect(server.requests.count == 1)
    }

    @Test func `bytes that only another request's codec decodes stay fresh`() async throws {
        let server = server()
        set("level:5")
        let pipeline = pipeline(server, codecs: CodecRegistry([]))
        let able = try web("a") { $0.codecs = FakeCodec().registry }
        for _ in 0..<3 {
            #expect(try await level(pipeline, able) == 5)
            #expect(try await failure(pipeline) == .decoding(.unknownFormat))
            clock.advance(by: .seconds(60))
        }
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [true, false])
    func `bytes that only a request's own codecs reject stay fresh, also before another request`(isMissing: Bool)
        async throws
    {
        let server = server()
        set("level:5")
        let request = try web("a") { $0.codecs = isMissing ? CodecRegistry([]) : StrictCodec().registry }
        let pipeline = pipeline(server)
        for _ in 0..<2 {
            #expect(try await failure(pipeline, request) != nil)
            await #expect(throws: PipelineError.self) { try await pipeline.data(for: request) }
            clock.advance(by: .seconds(60))
        }
        #expect(try await level(pipeline) == 5)
        #expect(server.requests.count == 1)
        // Bytes that no codec decodes are requested again.
        set("<html>")
        let next = self.pipeline(server)
        for _ in 0..<2 {
            #expect(try await failure(next, request) != nil)
            clock.advance(by: .seconds(60))
        }
        #expect(server.requests.count > 2)
    }

    @Test func `encoded bytes are requested again like images`() async throws {
        let server = server()
        set("<html>")
        await #expect(throws: PipelineError.self) { try await pipeline(server, .disk).data(for: web("a")) }
        set("level:5")
        #expect(try await pipeline(server, .disk).data(for: web("a")) == Data("level:5".utf8))
        #expect(server.requests.count == 2)
    }

    @Test func `a cached image is refreshed after an unusable response that never changes`() async throws {
        let server = server(["Cache-Control": "max-age=3600, immutable"])
        let request = try web("a") { $0.showsCachedFirst = true }
        let responses = URLResponseCache(clock: clock)
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(
                    transport: CachingTransport(wrapping: server, cache: responses), responseCache: responses,
                    clock: clock),
                codecs: FakeCodec().registry, memoryCache: DictionaryMemoryCache(), clock: clock))
        set("level:4")
        #expect(try await level(pipeline, request) == 4)
        await responses.removeAll()
        set("<html>")
        #expect(try await level(pipeline, request) == 4)
        set("level:5")
        clock.advance(by: .seconds(1))
        #expect(try await level(pipeline, request) == 5)
    }

    @Test func `a failure cache does not record the failure of a stored response`() async throws {
        let server = server()
        set("")
        #expect(try await failure(pipeline(server, .disk)) == .download)
        set("level:5")
        #expect(try await level(pipeline(server, .disk, failures: FailureCache())) == 5)
    }

    @Test(arguments: [true, false])
    func `a foreign cache is told by the policy of the request`(reportsSource: Bool) async throws {
        let policies = Watched<[HTTPCachePolicy]>([])
        let stored = Watched(Data("<html>".utf8))
        let downloader = FakeDownloader { request, _ in
            guard case .http(let http) = request.source else { throw CancellationError() }
            policies.update { $0.append(http.cachePolicy) }
            let isReload = http.cachePolicy == .reloadIgnoringLocalAndRemoteCacheData
            if isReload { stored.update { $0 = Data("level:5".utf8) } }
            var download = Download(data: stored.value)
            if reportsSource { download.responseSource = isReload ? .new : .fresh }
            return download
        }
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(downloader: downloader, codecs: FakeCodec().registry, clock: clock))
        if !reportsSource {
            #expect(try await failure(pipeline) != nil)
            clock.advance(by: .seconds(1))
        }
        #expect(try await level(pipeline) == 5)
        #expect(policies.value == [.useProtocolCachePolicy, .reloadIgnoringLocalAndRemoteCacheData])
    }

    @Test func `the transport alone serves what HTTP calls fresh`() async throws {
        let server = server()
        set("<html>")
        let transport = CachingTransport(wrapping: server, cache: URLResponseCache(clock: clock))
        let url = try #require(URL(string: "http://127.0.0.1/a"))
        for _ in 0..<3 {
            let response = try await transport.send(HTTPRequest(url: url))
            #expect(try await response.body.collect(limit: 100) == Data("<html>".utf8))
            clock.advance(by: .seconds(60))
        }
        #expect(server.requests.count == 1)
    }
}
