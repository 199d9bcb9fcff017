import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Loads of one resource, named by the caller, whose requests differ: signed URLs, other fields, other credentials.
@Suite(.timeLimit(.minutes(10)))
struct SharedFailureTests {
    private let clock = ManualClock()

    /// A downloader that responds after the clock has advanced: to paths that begin with "refused" with 403, to those
    /// that begin with "page" with bytes that are not an image, and to others with level 7.
    private var waiting: FakeDownloader {
        FakeDownloader { [clock] request, _ in
            try await clock.sleep(for: .seconds(1))
            guard case .http(let http) = request.source else { throw CancellationError() }
            let isOld = http.fields["X-Token"] == "old"
            if isOld || http.url.path.hasPrefix("/refused") {
                throw DownloadError(.status(403), "403 for \(http.url.path)")
            }
            return Download(data: http.url.path.hasPrefix("/page") ? Data("fail:corrupt".utf8) : level(7))
        }
    }

    private func request(_ path: String, _ change: (inout ImageRequest) -> Void = { _ in }) throws -> ImageRequest {
        try web(path) {
            $0.resource = ResourceKey("avatar of 7")
            change(&$0)
        }
    }

    /// Joins the load before it returns.
    private func load(_ request: ImageRequest, from stack: Stack) -> Task<UInt8, any Error> {
        Task.immediate { try await stack.load(request).image.level }
    }

    /// Ends the downloads in progress, one after the other.
    private func end(_ count: Int) async throws {
        for _ in 0..<count {
            try await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(1))
        }
    }

    private func message(of task: Task<UInt8, any Error>) async -> String? {
        await #expect(throws: PipelineError.self) { try await task.value }?.message
    }

    @Test func `a refused URL fails its own request, and the next request loads its own URL`() async throws {
        let stack = Stack(waiting)
        let first = load(try request("refused"), from: stack)
        let second = load(try request("good"), from: stack)

        try await end(2)

        #expect(await message(of: first) == "403 for /refused")
        #expect(try await second.value == 7)
        #expect(stack.downloader.count == 2)
    }

    @Test func `three refused URLs are requested once each, and each request fails with its own error`() async throws {
        let stack = Stack(waiting)
        let tasks = try ["refused1", "refused2", "refused3"].map { load(try request($0), from: stack) }

        try await end(3)

        for (number, task) in tasks.enumerated() { #expect(await message(of: task) == "403 for /refused\(number + 1)") }
        #expect(stack.downloader.count == 3)
    }

    @Test func `equal requests share a failure after one download`() async throws {
        let stack = Stack(waiting)
        let tasks = try (0..<5).map { _ in load(try request("refused"), from: stack) }

        try await end(1)

        for task in tasks { #expect(await message(of: task) == "403 for /refused") }
        #expect(stack.downloader.count == 1)
    }

    @Test func `a request for the same URL with another token is sent at once`() async throws {
        let stack = Stack(waiting)
        let tasks = try ["old", "new"].map { token in
            let url = try #require(URL(string: "http://127.0.0.1/a"))
            let source = ImageSource.http(HTTPRequest(url: url, fields: ["X-Token": token]))
            return load(ImageRequest(source: source), from: stack)
        }

        // Neither waits for the other.
        try await clock.waitForSleepers(count: 2)
        clock.advance(by: .seconds(1))

        #expect(await message(of: tasks[0]) == "403 for /a")
        #expect(try await tasks[1].value == 7)
    }

    @Test func `a URL that returns a page instead of the image does not fail the next request`() async throws {
        let stack = Stack(waiting)
        let first = load(try request("page"), from: stack)
        let second = load(try request("good"), from: stack)

        try await end(2)

        #expect(await message(of: first) == "as told")
        #expect(try await second.value == 7)
    }

    @Test func `a request for another variant loads from its own URL after a refusal`() async throws {
        let stack = Stack(waiting)
        let first = load(try request("refused"), from: stack)
        let second = load(try request("good") { $0.processors = [Brighten(step: 1)] }, from: stack)
        let third = load(try request("good") { $0.processors = [Brighten(step: 2)] }, from: stack)

        try await end(2)

        #expect(await message(of: first) == "403 for /refused")
        #expect(try await second.value == 8)
        #expect(try await third.value == 9)
        #expect(stack.downloader.count == 2)
    }

    @Test func `a canceled request is not sent after a refusal`() async throws {
        let stack = Stack(waiting)
        let tasks = try ["refused", "good1", "good2"].map { load(try request($0), from: stack) }
        try await clock.waitForSleepers(count: 1)

        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        try await end(2)

        #expect(await message(of: tasks[0]) == "403 for /refused")
        #expect(try await tasks[2].value == 7)
        #expect(stack.downloader.count == 2)
    }

    @Test func `a processor's failure is shared, because other bytes would not change it`() async throws {
        let stack = Stack(waiting)
        let failing = Brighten(step: 1, error: ImageProcessingError(.invalidParameter, "refused"))
        let tasks = try ["good1", "good2"].map { path in
            load(try request(path) { $0.processors = [failing] }, from: stack)
        }

        try await end(1)

        for task in tasks { #expect(await message(of: task) == "refused") }
        #expect(stack.downloader.count == 1)
    }
}
