import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoMemoryCache
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Options of a single request: time to live, codecs, caching of its image, retries, request modifiers, and sources
/// without bytes.
@Suite(.timeLimit(.minutes(10)))
struct RequestOptionTests {
    private let clock = ManualClock()

    /// A downloader that returns a level after the clock has advanced.
    private var waiting: FakeDownloader {
        FakeDownloader { [clock] _, _ in
            try await clock.sleep(for: .seconds(1))
            return Download(data: level(7))
        }
    }

    // MARK: Time to live

    @Test func `original and variant on disk expire after the request's time to live`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)), clock: clock)
        let request = try web("a") {
            $0.processors = [Brighten(step: 1)]
            $0.dataCachePolicy = .both
            $0.timeToLive = .seconds(60)
        }
        _ = try await stack.load(request)
        await stack.pipeline.flush()

        #expect(stack.disk.entries.value.count == 2)
        #expect(stack.disk.entries.value.values.allSatisfy { $0.expiry == clock.now + 60 })
    }

    @Test func `without its own time to live a request leaves the expiry to the cache`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        _ = try await stack.load(try web("a"))
        await stack.pipeline.flush()
        #expect(stack.disk.entries.value.values.map(\.expiry) == [nil])
    }

    @Test func `memory and disk have different times to live`() async throws {
        let (memory, disk) = (ImageMemoryCache(costLimit: 1 << 20, clock: clock), FakeDataCache())
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: FakeDownloader(giving: level(7)), codecs: FakeCodec().registry, memoryCache: memory,
                diskCache: disk, clock: clock))
        let request = try web("a") {
            $0.memoryTimeToLive = .seconds(5)
            $0.diskTimeToLive = .seconds(60)
        }
        _ = try await pipeline.load(request)
        await pipeline.flush()

        #expect(disk.entries.value.values.map(\.expiry) == [clock.now + 60])
        #expect(memory.contains(request.key))
        clock.advance(by: .seconds(5))
        #expect(!memory.contains(request.key))
    }

    @Test(arguments: [Duration.zero, .seconds(5)])
    func `no image between processors outlives the time to live of its request`(timeToLive: Duration) async throws {
        let (runs, memory) = (Watched(0), ImageMemoryCache(costLimit: 1 << 20, clock: clock))
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: FakeDownloader(giving: level(7)), codecs: FakeCodec().registry, memoryCache: memory,
                clock: clock))
        var request = ImageRequest(
            source: .imageProvider(identity: "camera") {
                runs.update { $0 += 1 }
                return .gray(side: 1, level: UInt8(runs.value))
            })
        request.processors = [Brighten(step: 10), Brighten(step: 20)]
        request.memoryTimeToLive = timeToLive

        var levels: [UInt8] = []
        for _ in 0..<2 {
            levels.append(try await pipeline.load(request).image.level)
            clock.advance(by: timeToLive)
        }

        #expect(levels == [31, 32])
    }

    @Test func `data loaded without decoding expires, too`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)), clock: clock)
        _ = try await stack.pipeline.data(for: try web("a") { $0.timeToLive = .seconds(5) })
        await stack.pipeline.flush()
        #expect(stack.disk.entries.value.values.map(\.expiry) == [clock.now + 5])
    }

    // MARK: Codecs

    /// Decodes "other:N", which the pipeline's codecs do not recognize.
    private func other(_ codec: FakeCodec) -> CodecRegistry {
        CodecRegistry([
            CodecRegistry.Entry(format: ImageFormat(rawValue: "other"), decoder: codec) {
                $0.contains(Array("other:".utf8))
            }
        ])
    }

    @Test func `a request is decoded with its own codecs`() async throws {
        let stack = Stack(FakeDownloader(giving: Data("other:9".utf8)))
        #expect(try await stack.failure(try web("a")).code == .decoding(.unknownFormat))
        let codec = FakeCodec()
        let request = try web("a") { $0.codecs = other(codec) }

        #expect(try await stack.pipeline.data(for: request) == Data("other:9".utf8))
        #expect(try await stack.load(request).image.level == 9)
        #expect(codec.decodes.value == 1)
        #expect(stack.codec.decodes.value == 0)
        // The codecs are not part of the key.
        #expect(stack.pipeline.cachedImage(for: try web("a"))?.level == 9)
    }

    @Test func `a request without the codec leaves the bytes that another request has stored`() async throws {
        let stack = Stack(FakeDownloader(giving: Data("other:9".utf8)))
        let request = try web("a") { $0.codecs = other(FakeCodec()) }
        let plain = try web("a")
        _ = try await stack.load(request)
        await stack.pipeline.flush()
        stack.memory.removeAll()

        #expect(try await stack.failure(plain).code == .decoding(.unknownFormat))
        // The bytes have been decoded, so the source cannot have better ones.
        #expect(stack.downloader.count == 1)
        await #expect(throws: PipelineError.self) { try await stack.pipeline.data(for: plain) }
        let next = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: stack.downloader, codecs: FakeCodec().registry, diskCache: stack.disk))
        await #expect(throws: PipelineError.self) { try await next.load(plain) }
        await next.flush()

        #expect(stack.stored(plain) == Data("other:9".utf8))
        #expect(try await next.load(request).layer == .disk)
    }

    @Test func `bytes that only a request's own codec rejects stay on disk, also in the next process`() async throws {
        let stack = Stack(FakeDownloader(giving: level(9)))
        let plain = try web("a")
        _ = try await stack.load(plain)
        await stack.pipeline.flush()
        let strict = try web("a") { $0.codecs = StrictCodec().registry }
        let next = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: stack.downloader, codecs: FakeCodec().registry, diskCache: stack.disk))
        await #expect(throws: PipelineError.self) { try await next.load(strict) }
        await #expect(throws: PipelineError.self) { try await next.data(for: strict) }
        await next.flush()

        #expect(stack.stored(plain) == level(9))
        let count = stack.downloader.count
        #expect(try await next.load(plain).layer == .disk)
        #expect(stack.downloader.count == count)
    }

    @Test func `copies of a request with its own codecs share a decode`() async throws {
        let stack = Stack(waiting)
        let codec = FakeCodec()
        let request = try web("a") { $0.codecs = codec.registry }
        // An immediate task has joined when it returns here.
        let tasks = (0..<2).map { _ in Task.immediate { try await stack.load(request) } }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))

        for task in tasks { #expect(try await task.value.image.level == 7) }
        #expect(codec.decodes.value == 1)
        #expect(stack.codec.decodes.value == 0)
    }

    // MARK: Caching of the image

    @Test(arguments: [true, false])
    func `a request decides by the response whether the image is cached`(keeps: Bool) async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let seen = Watched<[String]>([])
        let request = try web("a") {
            $0.processors = [Brighten(step: 1)]
            $0.dataCachePolicy = .both
            $0.shouldCache = { response in
                seen.update { $0.append("\(response.layer) \(response.image.level)") }
                return keeps
            }
        }
        #expect(try await stack.load(request).image.level == 8)
        await stack.pipeline.flush()

        #expect(seen.value == ["network 8"])
        #expect(stack.memory.count == (keeps ? 1 : 0))
        #expect(stack.disk.entries.value.count == (keeps ? 2 : 0))
        // Neither is the unprocessed image.
        _ = try await stack.load(try web("a") { $0.processors = [Brighten(step: 2)] })
        #expect(stack.downloader.count == (keeps ? 1 : 2))
    }

    @Test func `an image from disk is stored in memory only where the request allows it`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let request = try web("a") {
            $0.processors = [Brighten(step: 1)]
            $0.dataCachePolicy = .processed
        }
        _ = try await stack.load(request)
        await stack.pipeline.flush()
        stack.memory.removeAll()
        var unkept = request
        unkept.shouldCache = { _ in false }

        #expect(try await stack.load(unkept).layer == .disk)
        #expect(stack.memory.count == 0)
        #expect(stack.disk.entries.value.count == 1)
    }

    @Test func `copies of a request share a load and decide once`() async throws {
        let stack = Stack(waiting)
        let calls = Watched(0)
        let request = try web("a") {
            $0.shouldCache = { _ in
                calls.update { $0 += 1 }
                return false
            }
        }
        let tasks = (0..<2).map { _ in Task.immediate { try await stack.load(request) } }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        for task in tasks { #expect(try await task.value.image.level == 7) }
        await stack.pipeline.flush()

        #expect(calls.value == 1)
        #expect(stack.downloader.count == 1)
        #expect(stack.memory.count == 0)
        #expect(stack.disk.stores.value == 0)
    }

    // MARK: Requests to the server

    @Test func `the downloader receives the retry policy of the request`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let policy = RetryPolicy(maximumAttempts: 7)
        _ = try await stack.load(try web("a") { $0.retry = policy })
        _ = try await stack.load(try web("b"))
        #expect(stack.downloader.requests.value.map(\.retry) == [policy, nil])
    }

    @Test func `the downloader receives the modified request, with the cache policy applied afterwards`()
        async throws
    {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let request = try web("a") {
            $0.cachePolicy = .reload
            $0.modifyRequest = { http in
                http.fields["Authorization"] = "Bearer 7"
                http.cachePolicy = .returnCacheDataElseLoad
            }
        }
        _ = try await stack.load(request)

        guard case .http(let http)? = stack.downloader.requests.value.first?.source else {
            Issue.record("the downloader received no request to a server")
            return
        }
        #expect(http.fields["Authorization"] == "Bearer 7")
        #expect(http.cachePolicy == .reloadIgnoringLocalCacheData)
        // The image is that of the changed request.
        #expect(stack.pipeline.cachedImage(for: try web("a")) == nil)
    }

    @Test func `a modifier with an identifier is not called for cached images and local sources`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let calls = Watched(0)
        let modify: @Sendable (inout HTTPRequest) async throws -> Void = { _ in calls.update { $0 += 1 } }
        let request = try web("a") {
            $0.modifyRequest = modify
            $0.additionalIdentifier = "account 7"
        }
        _ = try await stack.load(request)
        await stack.pipeline.flush()
        #expect(calls.value == 1)

        #expect(stack.pipeline.cachedImage(for: request)?.level == 7)
        #expect(try await stack.load(request).layer == .memory)
        stack.memory.removeAll()
        #expect(try await stack.load(request).layer == .disk)
        var local = ImageRequest(source: .bytes(level(3), identity: "made"))
        local.modifyRequest = modify
        #expect(try await stack.load(local).image.level == 7)
        #expect(calls.value == 1)
    }

    @Test func `an error of the modifier is the cause of the load's error, and its cancellation cancels the load`()
        async throws
    {
        struct NoToken: Error {}
        let stack = Stack(FakeDownloader(giving: level(7)))
        let error = try await stack.failure(try web("a") { $0.modifyRequest = { _ in throw NoToken() } })
        #expect(error.code == .download)
        #expect(error.cause is NoToken)

        let cancelled = try web("a") { $0.modifyRequest = { _ in throw CancellationError() } }
        await #expect(throws: CancellationError.self) { try await stack.load(cancelled) }
        #expect(stack.downloader.count == 0)
    }

    @Test func `copies of a request with a modifier share a download, and other requests do not`() async throws {
        let stack = Stack(waiting)
        let request = try web("a") { $0.modifyRequest = { $0.fields["A"] = "1" } }
        var variant = request
        variant.processors = [Brighten(step: 1)]
        let other = try web("a") { $0.modifyRequest = { $0.fields["A"] = "2" } }
        let tasks = [request, request, variant, other, try web("a")].map { request in
            Task.immediate { try await stack.load(request) }
        }
        try await clock.waitForSleepers(count: 3)
        clock.advance(by: .seconds(1))

        for task in tasks { _ = try await task.value }
        #expect(stack.downloader.count == 3)
    }

    // MARK: Sources

    @Test func `a decoded image as source begins at processing`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let source = ImageSource.image(.gray(side: 1, level: 20), identity: "made")
        let plain = ImageRequest(source: source)
        let bright = ImageRequest(source: source, processors: [Brighten(step: 3)])

        let response = try await stack.load(bright)
        #expect(response.image.level == 23)
        #expect(response.layer == .local)
        #expect(response.encodedByteCount == nil)
        #expect(try await stack.load(plain).image.level == 20)
        #expect(try await stack.load(bright).layer == .memory)
        await stack.pipeline.flush()
        #expect(stack.downloader.count == 0)
        #expect(stack.codec.decodes.value == 0)
        #expect(stack.disk.stores.value == 0)
    }

    @Test func `a decoded image as source has no data to load`() async throws {
        let request = ImageRequest(source: .image(.gray(side: 1), identity: "made"))
        let error = try #require(await #expect(throws: PipelineError.self) { try await pipeline.data(for: request) })
        #expect((error.cause as? DownloadError)?.code == .invalidSource)
    }

    @Test(arguments: [
        ("ftp://me:secret@example.com/a.png", "cannot load ftp://example.com/a.png: the scheme 'ftp' is not supported"),
        ("file://elsewhere/a.png", "cannot load file://elsewhere/a.png: the file URL names a remote host"),
        ("a/b.png", "cannot load a/b.png: it has no scheme"),
    ])
    func `an unsupported URL scheme is an error of the load that names the scheme`(
        text: String, message: String
    ) async throws {
        let url = try #require(URL(string: text))
        let error = try #require(await #expect(throws: PipelineError.self) { try await pipeline.image(for: url) })
        #expect(error.code == .download)
        #expect(error.message.hasPrefix(message))
        #expect((error.cause as? DownloadError)?.code == .unsupportedURL)
    }

    @Test func `a custom downloader may load any URL`() async throws {
        let stack = Stack(
            FakeDownloader { request, _ in
                guard case .url(let url) = request.source, url.scheme == "photo" else { throw CancellationError() }
                return Download(data: level(5))
            })
        let url = try #require(URL(string: "photo:5"))

        #expect(try await stack.pipeline.load(url).layer == .network)
        #expect(try await stack.pipeline.image(for: url).level == 5)
        await stack.pipeline.flush()
        #expect(stack.stored(ImageRequest(url: url)) == level(5))
    }

    /// A pipeline over the package's downloader without a network.
    private var pipeline: ImagePipeline {
        ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(transport: FakeTransport.offline), codecs: FakeCodec().registry))
    }
}
