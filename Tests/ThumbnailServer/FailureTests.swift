import Alcedo
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

/// Responses without an image.
@Suite(.timeLimit(.minutes(10)))
struct FailureTests {
    @Test func `an unknown path receives 404, and an unsupported method 405`() async throws {
        try await TestServer.run { (server: TestServer) async throws in
            #expect(try await server.get("/").status == 404)
            #expect(try await server.get("/thumbnail/").status == 404)
            #expect(try await server.get("/health").text == "ok\n")
            #expect(
                try await server.get("/metrics").fields["Content-Type"]?.hasPrefix("text/plain; version=0.0.4") == true)
            for method: HTTPMethod in [
                .post, .put, .delete, HTTPMethod(rawValue: "OPTIONS"), HTTPMethod(rawValue: "RUBBISH"),
            ] {
                let response = try await server.get(server.target("/opaque.png"), method: method)
                #expect(response.status == 405)
                #expect(response.fields["Allow"] == "GET, HEAD")
            }
        }
    }

    @Test(arguments: [
        ("/missing", 404), ("/gone", 410), ("/broken", 502), ("/text", 422),
    ])
    func `a failure of the origin has its status, without the origin's text`(path: String, status: Int) async throws {
        try await TestServer.run { (server: TestServer) async throws in
            let response = try await server.get(server.target(path))
            #expect(response.status == status)
            #expect(response.fields["Cache-Control"] == "no-store")
            #expect(response.fields["X-Secret"] == nil)
            #expect(!response.text.contains("own words"))
            #expect(response.text.utf8.count < 100)
        }
    }

    @Test(arguments: [
        (ImageDecodingError.Code.exceedsLimit, 413), (.timedOut, 504), (.outOfMemory, 503), (.decoderUnavailable, 503),
        (.decoderFailed, 422), (.unknownFormat, 422), (.corrupt, 422),
    ])
    func `an error of the decoder has its status, without the decoder's text`(
        code: ImageDecodingError.Code, status: Int
    ) {
        let error = HTTPError(PipelineError(.decoding(code), "own words"))

        #expect(error.status == status)
        #expect((error.retryAfter != nil) == (status == 503))
        #expect(!error.message.contains("own words"))
    }

    @Test(arguments: [
        (ImageDecodingError.Code.decoderFailed, true), (.timedOut, true), (.outOfMemory, true),
        (.decoderUnavailable, true), (.corrupt, false),
    ])
    func `a decoder that fails is logged with the URL, and a damaged original is not`(
        code: ImageDecodingError.Code, isLogged: Bool
    ) async throws {
        let origin = try LoopbackOrigin(handler: TestServer.images)
        defer { origin.stop() }
        let lines = Watched<[String]>([])
        let entry = CodecRegistry.Entry(format: .png, decoder: FailingDecoder(code: code)) { _ in true }
        let stack = ServerStack(TestServer.settings, codecs: ServerCodecs(registry: CodecRegistry([entry]))) { line in
            lines.update { $0.append(line) }
        }
        let url = origin.url(for: "/opaque.png").absoluteString
        let head = RequestHead(method: "GET", target: "/thumbnail?url=\(QueryItems.encoded(url))&w=10")
        guard case .asynchronous(let operation) = stack.service.respond(to: head) else {
            throw HTTPError(400, "nothing is begun")
        }

        _ = await operation()
        await stack.shutDown()

        #expect(lines.value == (isLogged ? ["cannot decode \(url): own words."] : []))
    }

    @Test(arguments: DamageTolerance.allCases, DamageTolerance.allCases)
    func `a damaged original gives a thumbnail up to the tolerance, is logged, and is not stored if pixels are missing`(
        kind: DamageTolerance, tolerance: DamageTolerance
    ) async throws {
        let origin = try LoopbackOrigin { _ in OriginReply.ok(TestServer.opaque).setting("Cache-Control", "max-age=600")
        }
        defer { origin.stop() }
        let lines = Watched<[String]>([])
        let entry = CodecRegistry.Entry(format: .png, decoder: DamagedDecoder(kind: kind)) { _ in true }
        var settings = TestServer.settings
        settings.limits.tolerance = tolerance
        let stack = ServerStack(settings, codecs: ServerCodecs(registry: CodecRegistry([entry]))) { line in
            lines.update { $0.append(line) }
        }
        let url = origin.url(for: "/opaque.png").absoluteString
        let head = RequestHead(method: "GET", target: "/thumbnail?url=\(QueryItems.encoded(url))&w=10")
        guard case .asynchronous(let operation) = stack.service.respond(to: head) else {
            throw HTTPError(400, "nothing is begun")
        }

        let response = await operation()
        await stack.shutDown()

        #expect(response.status == (kind <= tolerance ? 200 : 422))
        #expect(lines.value.count == (kind <= tolerance ? 1 : 0))
        #expect(lines.value.allSatisfy { $0.hasPrefix("damaged original \(url): ") && $0.hasSuffix("a wrong bit") })
        let isStored = response.fields["Cache-Control"] != "no-store"
        #expect(isStored == (kind <= tolerance && kind != .missingPixels))
        guard isStored else { return }
        let age = try #require(response.fields["Cache-Control"]?.split(separator: "max-age=").last.flatMap { Int($0) })
        #expect(kind == .wrongPixels ? age <= 30 : age > 30)
    }

    @Test func `servers that tolerate different damage share no thumbnail in one store`() async throws {
        let origin = try LoopbackOrigin { _ in OriginReply.ok(TestServer.opaque).setting("Cache-Control", "max-age=600")
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let url = QueryItems.encoded(origin.url(for: "/opaque.png").absoluteString)
        let head = RequestHead(method: "GET", target: "/thumbnail?url=\(url)&w=10")
        func status(_ tolerance: DamageTolerance, _ decoder: any ImageDecoding) async throws -> Int {
            var settings = TestServer.settings
            settings.limits.tolerance = tolerance
            settings.cacheDirectory = directory.url
            let entry = CodecRegistry.Entry(format: .png, decoder: decoder) { _ in true }
            let stack = ServerStack(settings, codecs: ServerCodecs(registry: CodecRegistry([entry]))) { _ in }
            guard case .asynchronous(let operation) = stack.service.respond(to: head) else {
                throw HTTPError(400, "nothing is begun")
            }
            let response = await operation()
            await stack.shutDown()
            return response.status
        }

        #expect(try await status(.wrongPixels, DamagedDecoder(kind: .wrongPixels)) == 200)

        #expect(try await status(.harmless, DamagedDecoder(kind: .wrongPixels)) == 422)
        #expect(try await status(.missingPixels, FailingDecoder(code: .corrupt)) == 422)
        // A server with the same tolerance uses the stored thumbnail.
        #expect(try await status(.wrongPixels, FailingDecoder(code: .corrupt)) == 200)
    }

    @Test func `only the first frame of an animation is decoded, and the others count for no limit of pixels`()
        async throws
    {
        let size = PixelSize(width: 16, height: 16)
        let frames = try [UInt8(0), 255].map { level in
            try #require(
                PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, _ in
                    memory.initializeMemory(as: UInt8.self, repeating: level)
                })
        }
        var image = DecodedImage(pixels: frames[0])
        image.frames = MadeFrames(size, frames.map { ($0, .milliseconds(100)) })
        let animation = try ImageEncoder.gif().encode(image)
        try await TestServer.run(
            change: { $0.limits.decoding.maximumTotalPixelCount = size.pixelCount },
            handler: { _ in .ok(animation, type: "image/gif") }
        ) { (server: TestServer) async throws in
            #expect(try await server.get(server.target("/a")).status == 200)
        }
    }

    @Test func `an unreachable origin results in 502, and a silent one in 504`() async throws {
        try await TestServer.run { (server: TestServer) async throws in
            let nobody = try ClosedPort()
            defer { nobody.free() }
            let url = QueryItems.encoded(nobody.url.absoluteString)
            #expect(try await server.get("/thumbnail?url=\(url)/a&w=10").status == 502)
        }
        try await TestServer.run(
            responseTimeout: .milliseconds(300),
            handler: { _ in OriginReply.status(200).stalling(at: .beforeHead) }
        ) { (server: TestServer) async throws in
            #expect(try await server.get(server.target("/a")).status == 504)
        }
    }

    /// Without a clock, because the second request may get the slot of the first just before its own time limit.
    @Test func `a request without a slot in time is refused, and one with a slot reports the late origin`()
        async throws
    {
        let origin = try LoopbackOrigin { _ in OriginReply.status(200).stalling(at: .beforeHead) }
        defer { origin.stop() }
        var settings = TestServer.settings
        settings.limits.maxConcurrentOriginalsPerHost = 1
        let stack = ServerStack(settings)
        let service = stack.service
        let heads = ["/asked", "/waiting"].map { path in
            let url = QueryItems.encoded(origin.url(for: path).absoluteString)
            return RequestHead(method: "GET", target: "/thumbnail?url=\(url)&w=10")
        }
        guard case .asynchronous(let ask) = service.respond(to: heads[0]),
            case .asynchronous(let wait) = service.respond(to: heads[1])
        else { throw HTTPError(400, "nothing is begun") }
        let requested = Task { await ask() }
        try await origin.waitForStalls()
        let waiting = Task { await wait() }

        try await eventually { service.timeoutResponse(to: heads[1]).status == 503 }
        let (shed, late) = (service.timeoutResponse(to: heads[1]), service.timeoutResponse(to: heads[0]))

        #expect(shed.status == 503)
        #expect(shed.fields["Retry-After"] == "1")
        #expect(late.status == 504)
        #expect(origin.requests.count == 1)
        for task in [requested, waiting] {
            task.cancel()
            _ = await task.value
        }
        await stack.shutDown()
    }

    @Test(arguments: [300, 305, 306])
    func `an invalid redirect of the origin results in 502`(status: Int) async throws {
        try await TestServer.run(
            handler: { _ in OriginReply(status: status, body: TestServer.opaque) }
        ) { (server: TestServer) async throws in
            #expect(try await server.get(server.target("/a")).status == 502)
        }
    }

    @Test func `an original over the limits results in 413, and a damaged one in 422`() async throws {
        let large = OriginReply.ok(Data(repeating: 0x89, count: 2 << 20))
        try await TestServer.run(
            change: {
                $0.originalLimit = 1 << 20
                $0.limits.decoding.maximumPixelCount = 2_000
            },
            handler: { request in
                switch request.path {
                case "/large": large
                case "/lies":
                    OriginReply.ok(TestServer.opaque + Data(repeating: 0, count: 2 << 20)).framed(.chunked(size: 4096))
                case "/damaged": .ok(TestServer.clear.prefix(TestServer.clear.count / 2))
                default: TestServer.images(request)
                }
            }
        ) { (server: TestServer) async throws in
            #expect(try await server.get(server.target("/large")).status == 413)
            #expect(try await server.get(server.target("/lies")).status == 413)
            #expect(try await server.get(server.target("/opaque.png")).status == 413)
            #expect(try await server.get(server.target("/damaged")).status == 422)
            #expect(try await server.get(server.target("/clear.png")).status == 200)
        }
    }

    @Test func `private addresses are refused unless allowed, directly and after a redirect`() async throws {
        try await TestServer.run(change: { $0.allowsPrivateAddresses = false }) { (server: TestServer) async throws in
            for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
                let url = QueryItems.encoded("http://\(host):\(server.origin.port)/opaque.png")
                #expect(try await server.get("/thumbnail?url=\(url)&w=10").status == 403)
            }
            #expect(server.origin.requests.isEmpty)
        }
    }

    /// As from a public host, which the test machine does not have.
    @Test func `no redirect leads to a private address`() async throws {
        let origin = try LoopbackOrigin { _ in .text("secret") }
        defer { origin.stop() }
        var options = CURLOptions()
        (options.allowsPrivateAddresses, options.proxy) = (false, .none)
        let transport = RedirectingTransport(
            others: CURLTransport(options: options), location: origin.url.absoluteString)
        let url = try #require(URL(string: "http://\(RedirectingTransport.host)/"))

        let error = await #expect(throws: DownloadError.self) {
            try await Downloader(transport: transport).download(
                DownloadRequest(.http(HTTPRequest(url: url))))
        }

        #expect(error?.code == .transport(.addressRefused))
        #expect(origin.requests.isEmpty)
    }

    @Test func `a redirect is followed only to an allowed origin`() async throws {
        let other = try LoopbackOrigin(handler: TestServer.images)
        defer { other.stop() }
        let otherURL = other.url(for: "/opaque.png").absoluteString
        let handler: @Sendable (OriginRequest) -> OriginReply = { request in
            switch request.path {
            case "/out": .redirect(to: otherURL)
            case "/in": .redirect(to: "/opaque.png")
            case "/file": .redirect(to: "file:///etc/passwd")
            case "/named": .redirect(to: otherURL.replacing("http://", with: "http://a:b@"))
            case "/round": .redirect(to: "/round")
            default: TestServer.images(request)
            }
        }
        try await TestServer.run(handler: handler) { (server: TestServer) async throws in
            #expect(try await server.get(server.target("/out")).status == 200)
            #expect(try await server.get(server.target("/in")).status == 200)
            #expect(try await server.get(server.target("/file")).status == 502)
            #expect(try await server.get(server.target("/named")).status == 403)
            #expect(try await server.get(server.target("/round")).status == 502)
        }
        let origins = Watched<[OriginPattern]>([])
        let before = other.requests.count
        let origin = try LoopbackOrigin(handler: handler)
        defer { origin.stop() }
        origins.update { $0 = [OriginPattern(origin.url.absoluteString)].compactMap { $0 } }
        try await TestServer.run(change: { $0.service.allowed.patterns = origins.value }) {
            (server: TestServer) async throws in
            let target = { (path: String) in
                "/thumbnail?url=\(QueryItems.encoded(origin.url(for: path).absoluteString))&w=10"
            }
            #expect(try await server.get(target("/in")).status == 200)
            #expect(try await server.get(target("/out")).status == 403)
            // The server's own origin is not on the list.
            #expect(try await server.get(server.target("/opaque.png")).status == 403)
        }
        #expect(other.requests.count == before)
    }

    @Test func `with a key only signed URLs are served`() async throws {
        let signature = URLSignature(key: Array("0123456789abcdef".utf8))
        try await TestServer.run(change: { $0.service.signature = signature }) { (server: TestServer) async throws in
            let target = server.target("/opaque.png")
            #expect(try await server.get(target).status == 403)
            #expect(try await server.get(signature.signed(target)).status == 200)
            #expect(try await server.get(signature.signed("\(target)&expires=1")).status == 403)
            // From memory as well as new, it is not kept longer than the URL is valid.
            let end = Int(Date().timeIntervalSince1970) + 1_000
            for parameters in ["w=16", "w=17"] {
                let target = try signature.signed(server.target("/opaque.png", "\(parameters)&expires=\(end)"))
                let control = try await server.get(target).fields["Cache-Control"]
                let seconds = control.flatMap { Int($0.dropFirst("max-age=".count)) }
                #expect((1...1_000).contains(seconds ?? 0))
            }
            #expect(try await server.get("/health").status == 200)
        }
        try await TestServer.run { (server: TestServer) async throws in
            #expect(try await server.get(signature.signed(server.target("/opaque.png"))).status == 400)
        }
    }
}

/// A decoder that opens no file.
private struct FailingDecoder: ImageDecoding {
    let code: ImageDecodingError.Code

    /// Words of which the second sentence is for developers.
    private static let words = "own words. Call SandboxWorker.runIfRequested first in main."

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        throw ImageDecodingError(code, Self.words)
    }
}

/// Decodes every file as a gray image with damage.
private struct DamagedDecoder: ImageDecoding {
    let kind: DamageTolerance

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        let info = ImageInfo(format: .png, size: PixelSize(width: 8, height: 8))
        return WholeImageReader(info) { [kind] options throws(ImageDecodingError) in
            var image = DecodedImage.gray(side: 8, level: 90)
            image.damage = ImageDamage(kind, ImageDecodingError(.corrupt, "a wrong bit"))
            try options.check(image.damage)
            return image
        }
    }
}
