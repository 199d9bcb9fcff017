import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HTTPResponseTests {
    private static let final = "http://cdn.test/final"

    private let clock = ManualClock()

    /// Responds after a second, like a server behind a redirect.
    private var stack: Stack {
        Stack(
            FakeDownloader { [clock] _, _ in
                try await clock.sleep(for: .seconds(1))
                return try Self.download
            })
    }

    private static var download: Download {
        get throws {
            var metrics = HTTPTransferMetrics()
            metrics.bytesReceived = 99
            let url = try #require(URL(string: final))
            return Download(
                data: level(7), head: HTTPResponseHead(url: url, status: 203, fields: ["ETag": "\"1\""]),
                metrics: metrics)
        }
    }

    private func expectResponse(_ response: ImageResponse) {
        #expect(response.httpResponse?.status == 203)
        #expect(response.httpResponse?.fields["ETag"] == "\"1\"")
        #expect(response.httpResponse?.url.absoluteString == Self.final)
        #expect(response.metrics?.bytesReceived == 99)
    }

    @Test func `a downloaded image has response and metrics, also after processing`() async throws {
        let stack = stack
        for request in try [web("a"), web("b") { $0.processors = [Brighten(step: 1)] }] {
            let load = Task { try await stack.load(request) }
            try await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(1))

            expectResponse(try await load.value)
        }
    }

    @Test func `an image from memory or disk has no response`() async throws {
        let stack = stack
        let load = Task { try await stack.load(try web("a")) }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        _ = try await load.value
        await stack.pipeline.flush()

        let fromMemory = try await stack.load(try web("a"))
        let fromDisk = try await stack.load(try web("a") { $0.cachePolicy.memory = .none })

        #expect(fromMemory.layer == .memory)
        #expect(fromDisk.layer == .disk)
        for response in [fromMemory, fromDisk] {
            #expect(response.httpResponse == nil)
            #expect(response.metrics == nil)
        }
    }

    @Test func `an image made of one in memory has no response`() async throws {
        let stack = stack
        let load = Task { try await stack.load(try web("a")) }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        _ = try await load.value

        let processed = try await stack.load(try web("a") { $0.processors = [Brighten(step: 1)] })

        #expect(processed.layer == .memory)
        #expect(processed.image.level == 8)
        #expect(processed.httpResponse == nil)
        #expect(processed.metrics == nil)
        #expect(processed.encodedByteCount == nil)
    }

    @Test func `requests that share a download all receive its response`() async throws {
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        // Ends once the second request has joined, which has a higher priority.
        let stack = Stack(
            FakeDownloader { request, _ in
                let (changes, change) = AsyncStream.makeStream(of: Void.self)
                await request.priority.observing {
                    change.yield()
                } _: {
                    beginning.yield()
                    change.yield()
                    for await _ in changes where request.priority.value == .veryHigh { break }
                }
                return try Self.download
            })
        let first = stack.pipeline.imageTask(with: try web("a") { $0.priority = .low })
        for await _ in begun { break }
        let second = stack.pipeline.imageTask(
            with: try web("a") {
                $0.processors = [Brighten(step: 1)]
                $0.priority = .veryHigh
            })

        expectResponse(try await first.response)
        expectResponse(try await second.response)
        #expect(stack.downloader.count == 1)
    }
}
