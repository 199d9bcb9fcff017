import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CancelLoadsTests {
    private let clock = ManualClock()
    private let canceledPaths = Watched<Set<String>>([])

    /// A stack whose downloads take one second of the clock.
    private var stack: Stack {
        Stack(
            FakeDownloader { [clock, canceledPaths] request, _ in
                do {
                    try await clock.sleep(for: .seconds(1))
                } catch {
                    if case .http(let http) = request.source { canceledPaths.update { _ = $0.insert(http.url.path) } }
                    throw error
                }
                return Download(data: level(7))
            })
    }

    private func url(_ path: String) throws -> URL { try #require(try web(path).url) }

    @Test func `all loads of one URL are canceled, and loads of other URLs continue`() async throws {
        let stack = stack
        let requests = [
            try web("a"), try web("a") { $0.processors = [Brighten(step: 1)] },
            try web("a") { $0.decoding.target = TargetSize(width: 1, height: 1) },
        ]
        let loads = requests.map { request in Task { try await stack.load(request) } }
        let task = stack.pipeline.imageTask(with: requests[0])
        let data = Task { try await stack.pipeline.data(for: try web("a") { $0.cachePolicy.disk = .none }) }
        let other = Task { try await stack.load(try web("b")) }
        try await clock.waitForSleepers(count: 3)
        try await eventually { stack.pipeline.cancelableCount == 6 }

        stack.pipeline.cancelLoads(of: try #require(URL(string: try url("a").absoluteString + "#top")))

        for load in loads { await #expect(throws: CancellationError.self) { try await load.value } }
        await #expect(throws: CancellationError.self) { try await task.response }
        await #expect(throws: CancellationError.self) { try await data.value }
        #expect(task.isCancelled)
        try await canceledPaths.waitUntil { $0 == ["/a"] }
        clock.advance(by: .seconds(1))
        #expect(try await other.value.image.level == 7)
    }

    @Test func `a task is canceled before its load begins`() async throws {
        let executor = ManualExecutor()
        let stack = Stack(FakeDownloader(giving: level(7)), executor: executor)
        let task = stack.pipeline.imageTask(with: try web("a"))

        stack.pipeline.cancelLoads(of: try url("a"))

        #expect(task.isCancelled)
        await #expect(throws: CancellationError.self) { try await executor.drain { try await task.response } }
        #expect(stack.downloader.count == 0)
    }

    @Test func `a later load of the URL begins again`() async throws {
        let stack = stack
        let first = stack.pipeline.imageTask(with: try web("a"))
        try await clock.waitForSleepers(count: 1)
        stack.pipeline.cancelLoads(of: try url("a"))
        await #expect(throws: CancellationError.self) { try await first.response }

        let second = stack.pipeline.imageTask(with: try web("a"))

        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        #expect(try await second.image.level == 7)
    }

    @Test func `a request for another URL of the same resource keeps the shared load`() async throws {
        let stack = stack
        let requests = try ["a", "b"].map { path in try web(path) { $0.resource = ResourceKey("shared") } }
        let first = Task { try await stack.load(requests[0]) }
        try await clock.waitForSleepers(count: 1)
        let second = Task { try await stack.load(requests[1]) }
        try await eventually { stack.pipeline.cancelableCount == 2 }

        stack.pipeline.cancelLoads(of: try url("a"))

        await #expect(throws: CancellationError.self) { try await first.value }
        clock.advance(by: .seconds(1))
        #expect(try await second.value.image.level == 7)
        #expect(stack.downloader.count == 1)
    }

    @Test(arguments: [PrefetchDestination.memory, .disk])
    func `a prefetch of the URL fails, and those of other URLs continue`(
        destination: PrefetchDestination
    ) async throws {
        let stack = stack
        let (a, b) = (try url("a"), try url("b"))
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline, destination: destination)
        prefetcher.start([a, b])
        try await clock.waitForSleepers(count: 2)

        stack.pipeline.cancelLoads(of: a)

        clock.advance(by: .seconds(1))
        let report = try await prefetcher.report()
        #expect(report.loaded.map(\.url) == [b])
        #expect(report.failed.map(\.request.url) == [a])
        #expect(report.failed.allSatisfy { $0.error is CancellationError })
    }
}
