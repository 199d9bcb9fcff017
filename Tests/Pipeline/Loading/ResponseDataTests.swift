import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import AlcedoURLResponseCache
import FoundationEssentials
import TestSupport
import Testing

/// The original bytes in a response.
@Suite(.timeLimit(.minutes(10)))
struct ResponseDataTests {
    private func request(
        _ limit: Int = 100, _ change: (inout ImageRequest) -> Void = { _ in }
    ) throws -> ImageRequest {
        try web("a") {
            $0.processors = [Brighten(step: 1)]
            $0.maximumDataByteCount = limit
            change(&$0)
        }
    }

    @Test func `a response from network and disk has the bytes, and one from memory has none`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let first = try await stack.load(try request())
        #expect(first.layer == .network)
        #expect(first.data == level(7))
        #expect(first.image.level == 8)
        await stack.pipeline.flush()
        #expect(try await stack.load(try request()).data == nil)

        let next = Stack(FakeDownloader(giving: level(50)), disk: stack.disk)
        let reads = stack.disk.reads.value
        let second = try await next.load(try request())
        #expect(second.layer == .disk)
        #expect(second.data == level(7))
        #expect(stack.disk.reads.value == reads + 1)
    }

    @Test func `a response from a response cache has the bytes`() async throws {
        let transport = FakeTransport { request in
            let head = HTTPResponseHead(url: request.url, status: 200, fields: ["Cache-Control": "max-age=600"])
            return HTTPResponse(head: head, body: HTTPBody(level(7)))
        }
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(transport: CachingTransport(wrapping: transport, cache: URLResponseCache())),
                codecs: FakeCodec().registry))
        for _ in 0..<2 { #expect(try await pipeline.load(try request()).data == level(7)) }
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: [(0, false), (6, false), (7, true)])
    func `the bytes are limited, and by default there are none`(limit: Int, hasData: Bool) async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        #expect(level(7).count == 7)
        #expect(try await stack.load(try request(limit)).data == (hasData ? level(7) : nil))
        #expect(try await Stack(FakeDownloader(giving: level(7))).load(try web("a")).data == nil)
    }

    @Test func `an intermediate image from memory and a processed one from disk have no bytes`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        _ = try await stack.load(try request { $0.dataCachePolicy = .processed })
        let longer = try await stack.load(
            try request {
                $0.processors = [Brighten(step: 1), Brighten(step: 2)]
                $0.dataCachePolicy = .processed
            })
        #expect(longer.layer == .memory)
        #expect(longer.data == nil)
        await stack.pipeline.flush()

        let next = Stack(FakeDownloader(giving: level(50)), disk: stack.disk)
        let stored = try await next.load(try request { $0.dataCachePolicy = .processed })
        #expect(stored.layer == .disk)
        #expect(stored.encodedByteCount == 7)
        #expect(stored.data == nil)
    }

    @Test func `a local source has its bytes, and a decoded image has none`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let bytes = try await stack.load(try request { $0.source = .bytes(level(7), identity: "one") })
        #expect(bytes.data == level(7))
        let image = try await stack.load(
            try request { $0.source = .image(.gray(side: 1, level: 3), identity: "two") })
        #expect(image.image.level == 4)
        #expect(image.data == nil)
    }

    @Test func `only the requests that ask have the bytes of a shared download`() async throws {
        let clock = ManualClock()
        let stack = Stack(
            FakeDownloader { _, _ in
                try await clock.sleep(for: .seconds(1))
                return Download(data: level(7))
            })
        let loads = try [100, 0, 6, 100].map { limit in
            let request = try request(limit)
            return Task.immediate { try await stack.load(request).data }
        }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))

        var data: [Data?] = []
        for load in loads { data.append(try await load.value) }
        #expect(data == [level(7), nil, nil, level(7)])
        #expect(stack.downloader.count == 1)
        #expect(stack.codec.decodes.value == 1)
    }

    @Test func `a refreshed response has the bytes that were compared`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        _ = try await stack.load(try request())
        let cached = Watched<[Data?]>([])
        let response = try await stack.pipeline.load(
            try request { $0.showsCachedFirst = true }, priority: PriorityHandle(.normal)
        ) { update in
            if case .cached(let response) = update { cached.update { $0.append(response.data) } }
        }
        #expect(cached.value == [nil])
        #expect(response.layer == .memory)
        #expect(response.data == level(7))
        #expect(stack.downloader.count == 2)
    }
}
