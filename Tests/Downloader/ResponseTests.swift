import AlcedoCURL
import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ResponseTests {
    private func downloader(limit: Int = 1000) -> Downloader {
        Downloader(transport: CURLTransport(), configuration: .init(maximumByteCount: limit))
    }

    private func failureCode(
        limit: Int = 1000, _ reply: @escaping @Sendable (OriginRequest) -> OriginReply
    ) async throws -> DownloadError.Code {
        let origin = try LoopbackOrigin(handler: reply)
        defer { origin.stop() }
        let source = ImageSource.http(HTTPRequest(url: origin.url(for: "/a"), idleTimeout: .seconds(120)))
        return try await failure { try await downloader(limit: limit).download(source) }.code
    }

    @Test(arguments: [404, 500, 410, 599])
    func `an error status is an error that contains the status`(status: Int) async throws {
        #expect(try await failureCode { _ in .status(status) } == .status(status))
    }

    @Test func `a 304 response throws notModified`() async throws {
        #expect(try await failureCode { _ in .status(304) } == .notModified)
    }

    @Test func `an empty response is an error`() async throws {
        #expect(try await failureCode { _ in .ok(Data()) } == .empty)
        #expect(try await failureCode { _ in .status(204) } == .empty)
        #expect(try await failureCode { _ in .status(300) } == .empty)
        #expect(try await failureCode { _ in OriginReply(framing: .chunked(size: 10)) } == .empty)
    }

    @Test func `content declared too large is refused before it arrives`() async throws {
        let origin = try LoopbackOrigin { _ in OriginReply.endless(framing: .declaredLength(5_000_000_000)) }
        defer { origin.stop() }
        let source = ImageSource.http(HTTPRequest(url: origin.url(for: "/a"), idleTimeout: .seconds(120)))
        let steps = Watched(0)

        let error = try await failure {
            try await downloader().download(DownloadRequest(source)) { _ in steps.update { $0 += 1 } }
        }

        #expect(error.code == .tooLarge)
        #expect(steps.value == 0)
        try await origin.waitForDisconnects()
    }

    @Test func `content that grows too large ends the transfer`() async throws {
        let origin = try LoopbackOrigin { _ in OriginReply.endless(framing: .chunked(size: 500)) }
        defer { origin.stop() }
        let source = ImageSource.http(HTTPRequest(url: origin.url(for: "/a"), idleTimeout: .seconds(120)))

        #expect(try await failure { try await downloader(limit: 100_000).download(source) }.code == .tooLarge)
        try await origin.waitForDisconnects()
    }

    @Test func `content of exactly the limit is complete`() async throws {
        let origin = try LoopbackOrigin { request in
            let reply = OriginReply.ok(Data(count: 1000))
            return request.path == "/chunked" ? reply.framed(.chunked(size: 77)) : reply
        }
        defer { origin.stop() }
        for path in ["/plain", "/chunked"] {
            let source = ImageSource.http(HTTPRequest(url: origin.url(for: path), idleTimeout: .seconds(120)))
            #expect(try await downloader().download(source).data == Data(count: 1000))
            #expect(try await failure { try await downloader(limit: 999).download(source) }.code == .tooLarge)
        }
    }

    @Test func `a body that ends early is a lost connection`() async throws {
        #expect(
            try await failureCode { _ in OriginReply(body: Data(count: 500), framing: .declaredLength(900)) }
                == .transport(.connectionLost))
        #expect(
            try await failureCode { _ in OriginReply.ok(Data(count: 500)).cutting(at: .afterBody(100), .reset) }
                == .transport(.connectionLost))
    }

    @Test func `a body shorter than its declared length is an error`() async throws {
        let transport = FakeTransport(body: Data(count: 5), fields: ["Content-Length": "6"])
        let error = try await failure { try await Downloader(transport: transport).download(web("http://h/a")) }
        #expect(error.code == .transport(.connectionLost))
    }

    @Test func `a transport's error keeps its code and is the cause`() async throws {
        for code in [HTTPTransportError.Code.timedOut, .cannotResolveHost, .cannotConnect, .secureConnectionFailed] {
            let transport = FakeTransport { _ in throw HTTPTransportError(code, "why") }
            let error = try await failure { try await Downloader(transport: transport).download(web("http://h/a")) }
            #expect(error.code == .transport(code))
            #expect(error.message == "why")
            #expect(error.cause as? HTTPTransportError == HTTPTransportError(code, "why"))
        }
    }

    @Test func `the description of each error contains the URL of the request without its password`() async throws {
        let url = "http://user:secret@h/a.png"
        var declining = DownloaderConfiguration()
        declining.modifyRequest = { _ in throw HTTPTransportError(.failed, "why") }
        let downloaders = [
            Downloader(transport: FakeTransport { _ in throw HTTPTransportError(.cannotConnect, "why") }),
            Downloader(transport: FakeTransport { _ in throw CocoaError(.featureUnsupported) }),
            Downloader(transport: FakeTransport(body: Data())),
            Downloader(transport: FakeTransport(body: Data(), status: 404)),
            Downloader(transport: FakeTransport(body: Data(count: 5), fields: ["Content-Length": "6"])),
            Downloader(transport: FakeTransport(body: Data(count: 5)), configuration: declining),
            Downloader(
                transport: FakeTransport(body: Data(count: 5)),
                configuration: DownloaderConfiguration(maximumByteCount: 4)),
        ]
        for downloader in downloaders {
            let error = try await failure { try await downloader.download(web(url)) }
            #expect(error.description.ranges(of: "http://h/a.png").count == 1, "\(error)")
            #expect(!error.description.contains("secret"))
        }
    }

    @Test func `an unreachable server is an error`() async throws {
        let nobody = try ClosedPort()
        defer { nobody.free() }

        let error = try await failure { try await downloader().download(.http(HTTPRequest(url: nobody.url))) }

        #expect(error.code == .transport(.cannotConnect))
    }

    @Test func `progress without a declared length has no expected length`() async throws {
        let origin = try LoopbackOrigin { _ in OriginReply.ok(Data(count: 700)).framed(.chunked(size: 100)) }
        defer { origin.stop() }
        let steps = Watched<[DownloadProgress]>([])
        let request = DownloadRequest(.http(HTTPRequest(url: origin.url(for: "/a"), idleTimeout: .seconds(120))))

        let download = try await downloader().download(request) { step in steps.update { $0.append(step) } }

        #expect(download.data.count == 700)
        #expect(download.head?.status == 200)
        #expect(steps.value.first == DownloadProgress(received: 0, expected: nil))
        #expect(steps.value.last == DownloadProgress(received: 700, expected: nil))
    }

    @Test func `invalid limits are clamped`() {
        let configuration = DownloaderConfiguration(
            maxConcurrentDownloads: -1, maximumByteCount: -1, maximumRedirectCount: -1)
        #expect(configuration.maxConcurrentDownloads == 1)
        #expect(configuration.maximumByteCount == 0)
        #expect(configuration.maximumRedirectCount == 0)
    }
}
