import AlcedoCURL
import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CoalescingTests {
    private let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 >> 3) })

    /// Waiters that record their progress. An immediate task has joined when it returns here.
    private func waiters(
        _ count: Int, on downloader: Downloader, for source: ImageSource
    ) -> (tasks: [Task<Data, any Error>], progress: Watched<[Int: [DownloadProgress]]>) {
        let progress = Watched<[Int: [DownloadProgress]]>([:])
        let tasks = (0..<count).map { number in
            Task.immediate {
                try await downloader.download(DownloadRequest(source)) { step in
                    progress.update { $0[number, default: []].append(step) }
                }.data
            }
        }
        return (tasks, progress)
    }

    @Test func `many waiters share one request, and each receives progress`() async throws {
        // The last waiters join while the response stalls in its middle, and progress continues after it.
        let origin = try LoopbackOrigin { [body] _ in .ok(body).stalling(at: .afterBody(100_000)) }
        defer { origin.stop() }
        let downloader = Downloader(transport: CURLTransport())
        let source = ImageSource.http(HTTPRequest(url: origin.url(for: "/a"), idleTimeout: .seconds(120)))
        let (first, early) = waiters(1, on: downloader, for: source)
        try await origin.waitForStalls()
        let (others, late) = waiters(20, on: downloader, for: source)
        origin.release()

        for task in first + others { #expect(try await task.value == body) }

        #expect(origin.requestCount(for: "/a") == 1)
        let seen = Array(early.value.values) + Array(late.value.values)
        #expect(seen.count == 21)
        for steps in seen {
            #expect(steps.last == DownloadProgress(received: 200_000, expected: 200_000))
            #expect(steps.map(\.received) == steps.map(\.received).sorted())
            #expect(steps.allSatisfy { $0.expected == 200_000 })
        }
        #expect(early.value[0]?.first == DownloadProgress(received: 0, expected: 200_000))
    }

    @Test func `requests with unsafe methods are not shared`() async throws {
        let origin = try LoopbackOrigin { _ in .text("done").stalling(at: .beforeHead) }
        defer { origin.stop() }
        let downloader = Downloader(transport: CURLTransport())
        let request = HTTPRequest(
            method: .post, url: origin.url(for: "/a"), body: Data("x".utf8), idleTimeout: .seconds(120))
        let (tasks, _) = waiters(2, on: downloader, for: .http(request))
        try await origin.waitForStalls(count: 2)
        origin.release()

        for task in tasks { #expect(try await task.value == Data("done".utf8)) }
        #expect(origin.requestCount(for: "/a") == 2)
    }

    @Test func `the last waiter to leave cancels the transfer`() async throws {
        let origin = try LoopbackOrigin { [body] _ in .ok(body).stalling(at: .afterBody(100_000)) }
        defer { origin.stop() }
        let downloader = Downloader(transport: CURLTransport())
        let source = ImageSource.http(HTTPRequest(url: origin.url(for: "/a"), idleTimeout: .seconds(120)))
        let (tasks, _) = waiters(3, on: downloader, for: source)
        try await origin.waitForStalls()

        for task in tasks { task.cancel() }

        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        try await origin.waitForDisconnects()
    }

    @Test func `a waiter that leaves does not cancel the transfer of the others`() async throws {
        let origin = try LoopbackOrigin { [body] _ in .ok(body).stalling(at: .afterBody(100_000)) }
        defer { origin.stop() }
        let downloader = Downloader(transport: CURLTransport())
        let source = ImageSource.http(HTTPRequest(url: origin.url(for: "/a"), idleTimeout: .seconds(120)))
        let (tasks, _) = waiters(4, on: downloader, for: source)
        try await origin.waitForStalls()

        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        origin.release()

        for index in [0, 2, 3] { #expect(try await tasks[index].value == body) }
        #expect(origin.requests.count == 1)
        #expect(origin.state.disconnectCount == 0)
    }

    @Test func `a canceled download starts again on the next request`() async throws {
        let origin = try LoopbackOrigin { [body] request in
            request.attempt == 1 ? .ok(body).stalling(at: .afterBody(10)) : .ok(body)
        }
        defer { origin.stop() }
        let downloader = Downloader(transport: CURLTransport())
        let source = ImageSource.http(HTTPRequest(url: origin.url(for: "/a"), idleTimeout: .seconds(120)))
        let first = Task { try await downloader.download(source) }
        try await origin.waitForStalls()
        first.cancel()

        #expect(try await downloader.download(source).data == body)

        await #expect(throws: CancellationError.self) { try await first.value }
        try await origin.waitForDisconnects()
        #expect(origin.requests.count == 2)
    }

    @Test func `requests with different fields are not shared`() async throws {
        let transport = FakeTransport(body: Data("x".utf8))
        let downloader = Downloader(transport: transport)
        async let one = downloader.download(web("http://h/a", ["Accept": "image/webp"]))
        async let two = downloader.download(web("http://h/a", ["Accept": "image/png"]))
        _ = try await (one, two)
        #expect(transport.requests.count == 2)
    }

    @Test func `requests are compared after the modifier has changed them`() async throws {
        let clock = ManualClock()
        let transport = FakeTransport.waiting(on: clock)
        var configuration = DownloaderConfiguration()
        let modified = Watched(0)
        configuration.modifyRequest = { request in
            defer { modified.update { $0 += 1 } }
            var request = request
            // A signature that does not matter is removed, and a difference is added.
            let isSigned = request.url.query() != nil
            if isSigned { request.url = try #require(URL(string: "http://h/a")) }
            if request.url.path == "/b" { request.fields["X-Number"] = UUID().uuidString }
            return request
        }
        let downloader = Downloader(transport: transport, configuration: configuration, clock: clock)
        let urls = ["http://h/a?sign=1", "http://h/a?sign=2", "http://h/a", "http://h/b", "http://h/b"]
        let tasks = urls.map { url in Task.immediate { try await downloader.download(web(url)) } }
        // Each waits for its modified request, which waits for a transfer.
        try await eventually { downloader.waiterCount == 2 * urls.count }
        try await clock.waitForSleepers(count: 3)
        #expect(modified.value == urls.count)
        #expect(downloader.transferCounts == (3, 0))
        clock.advance(by: .seconds(1))
        for task in tasks { _ = try await task.value }
        #expect(transport.requests.map(\.url.path).sorted() == ["/a", "/b", "/b"])
    }

    @Test func `a download reports the metrics of its last exchange, to memory and to a file`() async throws {
        let origin = try LoopbackOrigin { [body] request in
            request.path == "/first" ? .redirect(to: "/second") : .ok(body)
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let downloader = Downloader(transport: CURLTransport())
        let request = DownloadRequest(
            .http(HTTPRequest(url: origin.url(for: "/first"), idleTimeout: .seconds(120))))
        let memory = try #require(try await downloader.download(request).metrics)
        let file = try #require(try await downloader.download(request, to: directory.path + "/a").metrics)
        for metrics in [memory, file] {
            #expect(metrics.protocolName == "http/1.1")
            #expect(metrics.isReusedConnection == true)
            #expect(try #require(metrics.bytesReceived) > 200_000)
        }
        #expect(try await downloader.download(.bytes(body, identity: "b")).metrics == nil)
    }

    @Test func `a failure reaches all waiters and is not cached`() async throws {
        let clock = ManualClock()
        let attempts = Watched(0)
        let downloader = Downloader(
            transport: FakeTransport {
                let attempt = attempts.update { count -> Int in
                    count += 1
                    return count
                }
                try await clock.sleep(for: .seconds(1))
                return HTTPResponse(
                    head: HTTPResponseHead(url: $0.url, status: attempt == 1 ? 503 : 200), body: HTTPBody(Data([1])))
            })
        let source = try web("http://h/a")
        let tasks = (0..<3).map { _ in Task.immediate { try await downloader.download(source) } }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        for task in tasks {
            #expect(try await failure { try await task.value }.code == .status(503))
        }

        let again = Task { try await downloader.download(source).data }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        #expect(try await again.value == Data([1]))
    }
}
