import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ConcurrencyTests {
    private let clock = ManualClock()

    private func downloader(_ transport: FakeTransport, width: Int) -> Downloader {
        Downloader(transport: transport, configuration: .init(maxConcurrentDownloads: width))
    }

    @Test func `the number of concurrent transfers is limited`() async throws {
        let transport = FakeTransport.waiting(on: clock)
        let downloader = downloader(transport, width: 3)
        // An immediate task waits for a transfer or has begun one when it returns here.
        let tasks = (0..<10).map { number in
            Task.immediate { try await downloader.download(web("http://h/\(number)")) }
        }

        for done in [0, 3, 6] {
            try await clock.waitForSleepers(count: 3)
            // A transfer that starts is counted before its request is sent.
            #expect(downloader.transferCounts == (3, 7 - done))
            #expect(transport.requests.count == done + 3)
            clock.advance(by: .seconds(1))
        }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))

        for task in tasks { _ = try await task.value }
        #expect(transport.requests.count == 10)
    }

    @Test func `six transfers run concurrently by default`() async throws {
        let transport = FakeTransport.waiting(on: clock)
        let downloader = Downloader(transport: transport)
        for number in 0..<10 { downloader.start(DownloadRequest(try web("http://h/\(number)"))) { _ in } }
        try await clock.waitForSleepers(count: 6)
        #expect(downloader.transferCounts == (6, 4))
        await downloader.shutDown()
        #expect(transport.requests.count == 6)
    }

    @Test func `local sources do not wait for a slot`() async throws {
        let transport = FakeTransport.waiting(on: clock)
        let downloader = downloader(transport, width: 1)
        let stalled = Task { try await downloader.download(web("http://h/stalled")) }
        try await clock.waitForSleepers(count: 1)

        let local = try await downloader.download(DownloadRequest(.bytes(Data([1, 2]), identity: "b")))

        #expect(local.data == Data([1, 2]))
        stalled.cancel()
        await #expect(throws: CancellationError.self) { try await stalled.value }
    }

    @Test func `a request canceled while it waits takes no slot`() async throws {
        let transport = FakeTransport.waiting(on: clock)
        let downloader = downloader(transport, width: 1)
        let plug = Task { try await downloader.download(web("http://h/plug")) }
        try await clock.waitForSleepers(count: 1)
        let waiting = Task.immediate { try await downloader.download(web("http://h/waiting")) }
        #expect(downloader.transferCounts == (1, 1))

        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let next = Task { try await downloader.download(web("http://h/next")) }
        clock.advance(by: .seconds(1))
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))

        _ = try await (plug.value, next.value)
        #expect(transport.requests.map(\.url.path) == ["/plug", "/next"])
    }

    @Test func `failed and canceled transfers release their slots`() async throws {
        let isOpen = Watched(false)
        let downloader = downloader(
            FakeTransport { request in
                if request.url.path == "/fail" { throw HTTPTransportError(.timedOut, "late") }
                try await isOpen.waitUntil { $0 }
                return HTTPResponse(head: HTTPResponseHead(url: request.url, status: 200), body: HTTPBody(Data([1])))
            }, width: 2)
        let tasks = (0..<300).map { number in
            let path = number % 3 == 0 ? "fail" : "\(number)"
            let task = Task { try await downloader.download(web("http://h/\(path)")) }
            if number % 5 == 0 { task.cancel() }
            return task
        }
        isOpen.update { $0 = true }
        for (number, task) in tasks.enumerated() {
            if number % 7 == 0 { task.cancel() }
            _ = await task.result
        }
        // All slots are free again, so two more complete.
        async let one = downloader.download(web("http://h/one"))
        async let two = downloader.download(web("http://h/two"))
        _ = try await (one, two)
    }
}
