import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PrefetcherTests {
    private let clock = ManualClock()
    private let executor = ManualExecutor()

    private var waiting: Stack {
        Stack(
            FakeDownloader { [clock] _, _ in
                try await clock.sleep(for: .seconds(1))
                return Download(data: level(7))
            }, executor: executor)
    }

    private func url(_ path: String) throws -> URL { try #require(URL(string: "http://127.0.0.1/\(path)")) }

    private func requests(_ count: Int) throws -> [ImageRequest] { try (0..<count).map { try web("\($0)") } }

    @Test func `images are prefetched with any loader`() async throws {
        let loader = FakeImageLoader { request, _ in
            guard request.url?.lastPathComponent != "2" else { throw DataCacheError(.failed, "no") }
            return ImageResponse(image: .gray(side: 1, level: 7), layer: .network)
        }
        loader.setCachedImage(.gray(side: 1, level: 7), for: try web("1"))
        let prefetcher = ImagePrefetcher(loader: loader)
        prefetcher.start(try requests(4))

        let report = try await prefetcher.report()

        #expect(Set(report.loaded.map(\.key)) == Set(try [web("0"), web("3")].map(\.key)))
        #expect(report.skipped.map(\.key) == [try web("1").key])
        #expect(report.failed.map(\.request.key) == [try web("2").key])
        #expect(loader.requests.count == 3)
    }

    @Test func `missing images are loaded, cached ones skipped and failures reported`() async throws {
        let stack = Stack(
            FakeDownloader { request, _ in
                guard case .http(let http) = request.source, http.url.lastPathComponent != "2" else {
                    throw HTTPTransportError(.cannotConnect, "no")
                }
                return Download(data: level(7))
            })
        _ = try await stack.load(try web("1"))
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline)
        prefetcher.start(try requests(4))

        let report = try await prefetcher.report()

        #expect(Set(report.loaded.map(\.key)) == Set(try [web("0"), web("3")].map(\.key)))
        #expect(report.skipped.map(\.key) == [try web("1").key])
        #expect(report.failed.map(\.request.key) == [try web("2").key])
        for name in ["0", "1", "3"] { #expect(stack.pipeline.cachedImage(for: try web(name)) != nil) }
        // The next report starts from zero.
        #expect(try await prefetcher.report().loaded.isEmpty)
    }

    @Test func `URLs are prefetched like their requests, and the report describes itself`() async throws {
        let stack = Stack(
            FakeDownloader { request, _ in
                guard case .http(let http) = request.source, http.url.lastPathComponent != "2" else {
                    throw HTTPTransportError(.cannotConnect, "no")
                }
                return Download(data: level(7))
            })
        _ = try await stack.load(try web("1"))
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline, maxConcurrentLoads: 4)
        prefetcher.start(try (0..<4).map { try url("\($0)") })

        let report = try await prefetcher.report()

        #expect(report.description == "2 loaded, 1 skipped, 1 failed")
        for name in ["0", "1", "3"] { #expect(stack.pipeline.cachedImage(for: try web(name)) != nil) }
    }

    @Test func `stopping URLs stops their loads and no others`() async throws {
        let stack = waiting
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline)
        prefetcher.isPaused = true
        prefetcher.start(try [url("0"), url("1")])
        prefetcher.start([try web("2")])

        prefetcher.stop(try [url("0"), url("2")])

        #expect(prefetcher.count == 1)
        prefetcher.isPaused = false
        executor.drain()
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        executor.drain()
        #expect(try await prefetcher.report().loaded.map(\.key) == [try web("1").key])
    }

    @Test func `prefetching to disk loads data without decoding`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline, destination: .disk)
        prefetcher.start(try requests(3))
        #expect(try await prefetcher.report().loaded.count == 3)
        await stack.pipeline.flush()
        #expect(stack.disk.entries.value.count == 3)
        #expect(stack.memory.count == 0)
        #expect(stack.codec.decodes.value == 0)
        prefetcher.start(try requests(3))
        #expect(try await prefetcher.report().skipped.count == 3)
    }

    @Test func `prefetching limits its concurrency, has a lower priority and loads equal requests once`() async throws {
        let stack = waiting
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline, maxConcurrentLoads: 2)
        prefetcher.start(try requests(5))
        prefetcher.start(try requests(5))
        executor.drain()
        #expect(clock.sleeperCount == 2)
        #expect(prefetcher.count == 5)
        #expect(stack.downloader.requests.value.map(\.priority.value) == [.low, .low])

        prefetcher.priority = .veryLow
        #expect(stack.downloader.requests.value.map(\.priority.value) == [.veryLow, .veryLow])
        // A view that requests one of them raises it to its own priority.
        let view = stack.pipeline.imageTask(with: try web("0") { $0.priority = .high })
        let live = stack.downloader.requests.value.first { request in
            if case .http(let http) = request.source { http.url.lastPathComponent == "0" } else { false }
        }
        executor.drain()
        #expect(live?.priority.value == .high)

        while prefetcher.count > 0 {
            clock.advance(by: .seconds(1))
            executor.drain()
        }
        #expect(try await view.response.image.level == 7)
        #expect(try await prefetcher.report().loaded.count == 5)
        #expect(stack.downloader.count == 5)
    }

    @Test(arguments: [PrefetchDestination.disk, .memory])
    func `requests of two users are two requests, and copies of one are one`(destination: PrefetchDestination)
        async throws
    {
        let stack = Stack(
            FakeDownloader { request, _ in
                guard case .http(let http) = request.source else { throw CancellationError() }
                let data = level(Int(http.fields["X-Token"] ?? "") ?? 0)
                return Download(
                    data: data, head: HTTPResponseHead(url: http.url, status: 200, fields: ["Vary": "X-Token"]))
            })
        let url = try #require(URL(string: "http://127.0.0.1/a"))
        let byField = (1...2).map {
            ImageRequest(source: .http(HTTPRequest(url: url, fields: ["X-Token": "\($0)"])))
        }
        let byModifier = try (3...4).map { number in
            try web("a") { $0.modifyRequest = { $0.fields["X-Token"] = "\(number)" } }
        }
        let byIdentifier = try (5...6).map { number in
            try web("a") {
                $0.modifyRequest = { $0.fields["X-Token"] = "\(number)" }
                $0.additionalIdentifier = "\(number)"
            }
        }
        let requests = byField + byModifier + byIdentifier
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline, destination: destination)
        prefetcher.isPaused = true
        prefetcher.start(requests)
        prefetcher.start(requests)
        #expect(prefetcher.count == 6)
        prefetcher.isPaused = false
        #expect(try await prefetcher.report().loaded.count == 6)
        #expect(stack.downloader.count == 6)
        for (index, request) in requests.enumerated() {
            #expect(try await stack.load(request).image.level == UInt8(index + 1))
        }
        #expect(stack.downloader.count == 6)

        prefetcher.isPaused = true
        prefetcher.start(requests)
        prefetcher.stop([byField[1], byModifier[0]])
        #expect(prefetcher.count == 4)
    }

    @Test func `while prefetching is paused nothing starts, and stopped loads end`() async throws {
        let stack = waiting
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline, maxConcurrentLoads: 2)
        prefetcher.isPaused = true
        prefetcher.start(try requests(4))
        executor.drain()
        #expect(stack.downloader.count == 0)
        #expect(prefetcher.count == 4)

        prefetcher.isPaused = false
        executor.drain()
        #expect(clock.sleeperCount == 2)
        prefetcher.stop([try web("0"), try web("3")])
        executor.drain()
        #expect(stack.downloader.count == 3)
        #expect(prefetcher.count == 2)
        prefetcher.stopAll()
        executor.drain()
        #expect(clock.sleeperCount == 0)
        #expect(prefetcher.count == 0)
        let report = try await prefetcher.report()
        #expect(report.loaded.isEmpty)
        #expect(report.failed.isEmpty)
    }

    @Test func `releasing a prefetcher ends its loads`() async throws {
        let stack = waiting
        var prefetcher: ImagePrefetcher? = ImagePrefetcher(pipeline: stack.pipeline, maxConcurrentLoads: 3)
        prefetcher?.start(try requests(10))
        executor.drain()
        #expect(clock.sleeperCount == 3)
        prefetcher = nil
        executor.drain()
        #expect(clock.sleeperCount == 0)
        #expect(stack.downloader.count == 3)
    }

    @Test func `requests beyond the maximum number of pending requests are skipped`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline, maximumPendingCount: 3)
        prefetcher.isPaused = true
        prefetcher.start(try requests(5))
        prefetcher.isPaused = false
        let report = try await prefetcher.report()
        #expect(report.loaded.count == 3)
        #expect(report.skipped.count == 2)
    }

    @Test func `prefetching to disk reports images as stored or failed`() async throws {
        let failing = Stack(
            FakeDownloader(giving: level(7)), disk: FakeDataCache { _ in throw DataCacheError(.noSpace, "full") })
        let forbidden = Stack(FakeDownloader(giving: level(7), fields: ["Cache-Control": "no-store"]))
        let pipelines = [
            failing.pipeline, forbidden.pipeline,
            ImagePipeline(
                ImagePipeline.Configuration(downloader: FakeDownloader(giving: level(7)), codecs: FakeCodec().registry)),
        ]
        for pipeline in pipelines {
            let prefetcher = ImagePrefetcher(pipeline: pipeline, destination: .disk)
            prefetcher.start(try requests(2))
            let report = try await prefetcher.report()
            #expect(report.loaded.isEmpty)
            #expect(report.failed.count == 2)
            for failure in report.failed {
                let error = failure.error as? PipelineError
                #expect(error?.code == .notStored)
                let url = try #require(failure.request.url).absoluteString
                #expect(error?.description.contains(url) == true)
            }
        }
    }

    /// A response cache that has every response.
    private struct Responses: ResponseCacheAccess {
        let isInMemoryOnly: Bool

        func hasResponse(for request: HTTPRequest, ignoringMemory: Bool) async -> Bool {
            !ignoringMemory || !isInMemoryOnly
        }

        func removeAllResponses(for request: HTTPRequest) async {}

        func removeAll() async {}
    }

    @Test(arguments: [true, false])
    func `a response counts as stored on disk unless it is in memory only`(isInMemoryOnly: Bool) async throws {
        var downloader = FakeDownloader(giving: level(7))
        downloader.responseCache = Responses(isInMemoryOnly: isInMemoryOnly)
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(downloader: downloader, codecs: FakeCodec().registry))
        let prefetcher = ImagePrefetcher(pipeline: pipeline, destination: .disk)
        prefetcher.start(try requests(1))

        let report = try await prefetcher.report()

        #expect(report.failed.count == (isInMemoryOnly ? 1 : 0))
        #expect(report.loaded.count == (isInMemoryOnly ? 0 : 1))
        for failure in report.failed { #expect((failure.error as? PipelineError)?.code == .notStored) }
    }

    @Test func `an image on disk replaces its data only where the request reads it`() async throws {
        func prefetched(_ content: DataCachePolicy) async throws -> PrefetchReport {
            let stack = Stack(FakeDownloader(giving: level(7)))
            let request = try web("a") {
                $0.processors = [Brighten(step: 1)]
                $0.dataCachePolicy = content
            }
            try await stack.disk.store(CachedData(level(8)), for: request.key)
            let prefetcher = ImagePrefetcher(pipeline: stack.pipeline, destination: .disk)
            prefetcher.start([request])
            return try await prefetcher.report()
        }
        #expect(try await prefetched(.original).loaded.count == 1)
        #expect(try await prefetched(.processed).skipped.count == 1)
    }

    @Test func `a caller may stop waiting for a report that another receives`() async throws {
        let stack = waiting
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline)
        prefetcher.start(try requests(1))
        let watcher = Task(executorPreference: executor) { try await prefetcher.report() }
        executor.drain()
        #expect(clock.sleeperCount == 1)
        watcher.cancel()
        executor.drain()
        await #expect(throws: CancellationError.self) { try await watcher.value }
        #expect(prefetcher.count == 1)
        clock.advance(by: .seconds(1))
        executor.drain()
        #expect(try await prefetcher.report().loaded.count == 1)
    }
}
