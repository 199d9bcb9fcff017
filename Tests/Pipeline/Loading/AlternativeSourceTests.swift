import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Requests with alternative sources.
@Suite(.timeLimit(.minutes(10)))
struct AlternativeSourceTests {
    private let clock = ManualClock()

    /// A downloader that has the bytes of some paths and of sources in memory. It responds to "/slow" after one second
    /// of the clock, and to other paths with the status 404, or that of their names.
    private func downloader(_ contents: [String: Data]) -> FakeDownloader {
        FakeDownloader { [clock] request, _ in
            switch request.source {
            case .bytes(let data, _): return Download(data: data)
            case .http(let http):
                let name = String(http.url.path.dropFirst())
                if name == "slow" { try await clock.sleep(for: .seconds(1)) }
                if let data = contents[name] { return Download(data: data) }
                let status = Int(name) ?? 404
                throw DownloadError(
                    .status(status), "no \(name)", head: HTTPResponseHead(url: http.url, status: status))
            default: throw DownloadError(.invalidSource, "not expected")
            }
        }
    }

    private func request(
        _ paths: String..., change: (inout ImageRequest) -> Void = { _ in }
    ) throws -> ImageRequest {
        var request = try web(paths[0])
        request.alternativeSources = try paths.dropFirst().map { try web($0).source }
        change(&request)
        return request
    }

    private func paths(_ downloader: FakeDownloader) -> [String] {
        downloader.requests.value.map { request in
            guard case .http(let http) = request.source else { return request.source.shown }
            return http.url.path
        }
    }

    @Test func `alternatives are tried in order until one succeeds, which is cached under its own key`() async throws {
        let stack = Stack(downloader(["c": level(7), "d": level(9)]))
        let request = try request("a", "b", "c", "d") { $0.processors = [Brighten(step: 1)] }

        let response = try await stack.load(request)

        #expect(response.image.level == 8)
        #expect(response.alternativeIndex == 1)
        #expect(paths(stack.downloader) == ["/a", "/b", "/c"])
        #expect(stack.pipeline.cachedImage(for: request) == nil)
        let own = try self.request("c") { $0.processors = [Brighten(step: 1)] }
        #expect(stack.pipeline.cachedImage(for: own)?.level == 8)
        await stack.pipeline.flush()
        #expect(stack.stored(own) == level(7))
        #expect(stack.stored(request) == nil)

        let repeated = try await stack.load(request)
        #expect(repeated.layer == .memory)
        #expect(repeated.alternativeIndex == 1)
        #expect(paths(stack.downloader).suffix(2) == ["/a", "/b"])
    }

    @Test func `the source of a request comes before its alternatives`() async throws {
        let stack = Stack(downloader(["a": level(7), "b": level(9)]))
        let response = try await stack.load(try request("a", "b"))
        #expect(response.image.level == 7)
        #expect(response.alternativeIndex == nil)
        #expect(paths(stack.downloader) == ["/a"])
    }

    @Test func `if all sources fail, the error is that of the first one with those of the others`() async throws {
        let stack = Stack(downloader([:]))
        let error = try await stack.failure(try request("404", "500", "403"))
        #expect(error.code == .download)
        #expect(error.httpStatus == 404)
        #expect(error.alternativeErrors.map(\.httpStatus) == [500, 403])
        #expect(error.alternativeErrors.allSatisfy { $0.alternativeErrors.isEmpty })
        #expect(error.alternativeErrors.last?.description.contains("http://127.0.0.1/403") == true)
        #expect(try await stack.failure(try request("404")).alternativeErrors.isEmpty)
    }

    @Test func `an image that cannot be decoded leads to an alternative`() async throws {
        let stack = Stack(downloader(["a": Data("fail:corrupt".utf8), "b": level(7)]))
        let response = try await stack.load(try request("a", "b"))
        #expect(response.image.level == 7)
        #expect(response.alternativeIndex == 0)
    }

    @Test func `an alternative in a cache needs no network`() async throws {
        let stack = Stack(downloader(["b": level(7)]))
        _ = try await stack.load(try request("b"))
        let response = try await stack.load(try request("a", "b") { $0.cachePolicy = .cacheOnly })
        #expect(response.layer == .memory)
        #expect(response.alternativeIndex == 0)
        #expect(paths(stack.downloader) == ["/b"])
    }

    @Test func `an alternative may be local`() async throws {
        let stack = Stack(downloader([:]))
        var request = try request("a")
        request.alternativeSources = [.bytes(level(7), identity: "placeholder")]
        let response = try await stack.load(request)
        #expect(response.image.level == 7)
        #expect(response.layer == .local)
    }

    @Test func `the resource of a request is not that of its alternatives`() async throws {
        let stack = Stack(downloader(["b": level(7), "c": level(9)]))
        let named = try request("a", "b") { $0.resource = ResourceKey("portrait") }
        #expect(try await stack.load(named).image.level == 7)
        #expect(stack.pipeline.cachedImage(for: named) == nil)
        #expect(try await stack.load(try request("c") { $0.resource = ResourceKey("portrait") }).image.level == 9)
    }

    // MARK: Cancellation

    enum Canceler: CaseIterable { case task, url }

    @Test(arguments: [true, false], Canceler.allCases)
    func `no alternative is tried after a cancellation`(isFirst: Bool, canceler: Canceler) async throws {
        let stack = Stack(downloader(["slow": level(7), "c": level(9)]))
        let request = try isFirst ? request("slow", "c") : request("a", "slow", "c")
        let task = Task { try await stack.load(request) }
        try await clock.waitForSleepers(count: 1)

        switch canceler {
        case .task: task.cancel()
        case .url: stack.pipeline.cancelLoads(of: try #require(try web("slow").url))
        }

        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(paths(stack.downloader) == (isFirst ? ["/slow"] : ["/a", "/slow"]))
    }

    @Test func `a pipeline that is shut down tries no alternative`() async throws {
        let stack = Stack(downloader(["b": level(7)]))
        await stack.pipeline.shutDown()
        let error = try await stack.failure(try request("a", "b"))
        #expect(error.code == .shutDown)
        #expect(error.alternativeErrors.isEmpty)
    }

    // MARK: Shared loads, updates and events

    @Test func `requests with other alternatives share the source, and each continues with its own`() async throws {
        let stack = Stack(downloader(["b": level(7), "c": level(9)]))
        let requests = [try request("slow", "b"), try request("slow", "c")]
        let tasks = requests.map { request in Task { try await stack.load(request).image.level } }
        try await eventually { stack.pipeline.cancelableCount == 2 }
        try await clock.waitForSleepers(count: 1)

        clock.advance(by: .seconds(1))

        #expect(try await tasks[0].value == 7)
        #expect(try await tasks[1].value == 9)
        #expect(paths(stack.downloader).filter { $0 == "/slow" }.count == 1)
    }

    @Test func `the cached image of an alternative is shown first`() async throws {
        let stack = Stack(downloader(["b": level(7)]))
        _ = try await stack.load(try request("b"))
        let shown = Watched<[Int?]>([])
        let request = try request("a", "b") { $0.showsCachedFirst = true }
        let response = try await stack.pipeline.load(request, priority: PriorityHandle()) { update in
            if case .cached(let response) = update { shown.update { $0.append(response.alternativeIndex) } }
        }
        #expect(shown.value == [0])
        #expect(response.alternativeIndex == 0)
    }

    @Test func `observers receive an event for each alternative`() async throws {
        let (metrics, lines) = (PipelineMetrics(), Watched<[String]>([]))
        let logger = TextLogger { line in lines.update { $0.append(line) } }
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader(["c": level(7)]), codecs: FakeCodec().registry,
                memoryCache: DictionaryMemoryCache(), observers: [metrics, logger]))

        _ = try await pipeline.load(try request("a", "b", "c"))

        #expect(metrics.snapshot.alternatives == 2)
        #expect(metrics.snapshot.failed == 2)
        #expect(metrics.snapshot.finished == 1)
        #expect(
            lines.value.filter { $0.contains("alternative") } == [
                "continues with the alternative http://127.0.0.1/b: http://127.0.0.1/a",
                "continues with the alternative http://127.0.0.1/c: http://127.0.0.1/a",
            ])
    }

    // MARK: Bytes

    @Test func `the bytes of a request are those of the first source that has some`() async throws {
        let stack = Stack(downloader(["b": level(7)]))
        #expect(try await stack.pipeline.data(for: try request("a", "b")) == level(7))
        let error = await #expect(throws: PipelineError.self) {
            try await stack.pipeline.data(for: try request("404", "500"))
        }
        #expect(error?.httpStatus == 404)
        #expect(error?.alternativeErrors.map(\.httpStatus) == [500])
    }

    @Test func `an alternative is prefetched to disk`() async throws {
        let stack = Stack(downloader(["b": level(7)]))
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline, destination: .disk)
        prefetcher.start([try request("a", "b")])
        #expect(try await prefetcher.report().loaded.count == 1)
        #expect(stack.stored(try request("b")) == level(7))
    }
}
