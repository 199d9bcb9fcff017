import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDownloader

@Suite(.timeLimit(.minutes(10)))
struct ConfigurationTests {
    private struct Oops: Error {}

    private let png = Data([0x89, 0x50, 0x4E, 0x47]) + Data(count: 5_000)
    private let url: URL

    init() throws { url = try #require(URL(string: "http://h/a")) }

    // MARK: Status

    @Test(arguments: [(200, true), (299, true), (300, true), (399, true), (199, false), (400, false), (500, false)])
    func `statuses from 200 to 399 are successful`(status: Int, isAccepted: Bool) async throws {
        let fetcher = HTTPFetcher.make(Script([.head(status, [:], png)]))
        if isAccepted {
            #expect(try await fetcher.fetch("http://h/a").data == png)
        } else {
            let error = try await failure { try await fetcher.fetch("http://h/a") }
            #expect(error.code == .status(status))
            #expect(error.head?.status == status)
        }
    }

    @Test func `the range of successful statuses is configurable`() async throws {
        let strict = HTTPFetcher.make(Script([.head(404, [:], png), .head(200, [:], png)])) {
            $0.acceptsStatus = { $0 == 404 }
        }
        #expect(try await strict.fetch("http://h/a").data == png)
        #expect(try await failure { try await strict.fetch("http://h/a") }.code == .status(200))
    }

    @Test func `a 304 response throws notModified`() async throws {
        let fetcher = HTTPFetcher.make(Script([.head(304, ["ETag": "\"a\""])])) { $0.acceptsStatus = { _ in true } }
        let error = try await failure { try await fetcher.fetch("http://h/a") }
        #expect(error.code == .notModified)
        #expect(error.head?.fields["ETag"] == "\"a\"")
    }

    // MARK: Content

    @Test func `content of a refused type fails at its beginning`() async throws {
        let origin = try LoopbackOrigin { _ in OriginReply.endless().setting("Content-Type", "text/html") }
        defer { origin.stop() }
        let seen = Watched<[Int]>([])
        let fetcher = HTTPFetcher.make(CURLTransport()) {
            $0.acceptsContent = { beginning in
                seen.update { $0.append(beginning.count) }
                return beginning.starts(with: [0x89, 0x50])
            }
        }
        let error = try await failure { try await fetcher.fetch(origin.url(for: "/a").absoluteString) }
        #expect(error.code == .unexpectedContent)
        #expect(error.message.contains("text/html"))
        #expect(seen.value == [CodecRegistry.sniffedByteCount])
        try await origin.waitForDisconnects()
    }

    @Test func `short content is checked at its end, and valid content once`() async throws {
        let seen = Watched<[Data]>([])
        let fetcher = HTTPFetcher.make(Script([.head(200, [:], Data([1, 2])), .head(200, [:], png)])) {
            $0.acceptsContent = { beginning in
                seen.update { $0.append(beginning) }
                return beginning.count > 2
            }
        }
        #expect(try await failure { try await fetcher.fetch("http://h/a") }.code == .unexpectedContent)
        #expect(try await fetcher.fetch("http://h/a").data == png)
        #expect(seen.value == [Data([1, 2]), png.prefix(64)])
    }

    @Test func `the formats of a registry are recognized`() throws {
        let signature: [UInt8?] = [0x89, 0x50, nil, 0x47]
        let entry = CodecRegistry.Entry(
            format: ImageFormat(rawValue: "test"), decoder: NoDecoder(), signatures: [signature])
        var configuration = DownloaderConfiguration()
        configuration.acceptsContent = CodecRegistry([entry]).recognizes
        let head = HTTPResponseHead(url: url, status: 200)
        try configuration.checkContent(png, head: head)
        let other = configuration
        #expect(throws: DownloadError.self) { try other.checkContent(Data("<html>".utf8), head: head) }
    }

    @Test func `a transform produces the content, which is then checked`() async throws {
        let secret = Data(png.map { $0 ^ 0x55 })
        let fetcher = HTTPFetcher.make(Script([.head(200, ["A": "b"], secret), .head(200, [:], png)])) {
            $0.acceptsContent = { $0.starts(with: [0x89, 0x50]) }
            $0.transform = { data, head in Data(data.map { $0 ^ 0x55 }) }
        }
        #expect(try await fetcher.fetch("http://h/a").data == png)
        #expect(try await failure { try await fetcher.fetch("http://h/a") }.code == .unexpectedContent)
    }

    @Test func `a transform that fails or exceeds the limit is an error`() async throws {
        let failing = HTTPFetcher.make(Script([.head(200, [:], png)])) { $0.transform = { _, _ in throw Oops() } }
        let error = try await failure { try await failing.fetch("http://h/a") }
        #expect(error.code == .hook)
        #expect(error.cause is Oops)
        let growing = HTTPFetcher.make(Script([.head(200, [:], png)])) {
            $0.maximumByteCount = 6_000
            $0.transform = { data, _ in data + data }
        }
        #expect(try await failure { try await growing.fetch("http://h/a") }.code == .tooLarge)
    }

    // MARK: Requests and responses

    @Test func `a modifier changes a request before it is sent`() async throws {
        let fetcher = HTTPFetcher.make(Script([])) { configuration in
            configuration.modifyRequest = { request in
                if request.url.path == "/no" { return nil }
                if request.url.path == "/oops" { throw Oops() }
                if request.url.path == "/gone" { throw CancellationError() }
                var request = request
                request.fields["Authorization"] = "me"
                return request
            }
        }
        func prepare(_ path: String) async throws -> HTTPRequest {
            try await fetcher.prepare(HTTPRequest(url: try #require(URL(string: "http://h\(path)"))))
        }
        #expect(try await prepare("/a").fields["Authorization"] == "me")
        #expect(try await failure { try await prepare("/no") }.code == .declined)
        #expect(try await failure { try await prepare("/oops") }.cause is Oops)
        await #expect(throws: CancellationError.self) { try await prepare("/gone") }
        let plain = HTTPRequest(url: url)
        #expect(try await HTTPFetcher.make(Script([])).prepare(plain) == plain)
    }

    @Test func `a response head is changed before it is evaluated`() async throws {
        let fetcher = HTTPFetcher.make(
            Script([.head(500, ["X": "fine"], png), .head(200, ["X": "no"], png), .head(200, ["X": "oops"], png)])
        ) {
            $0.modifyResponse = { head in
                if head.fields["X"] == "no" { return nil }
                if head.fields["X"] == "oops" { throw Oops() }
                var head = head
                head.status = 200
                return head
            }
        }
        let download = try await fetcher.fetch("http://h/a")
        #expect(download.data == png)
        #expect(download.head?.status == 200)
        #expect(try await failure { try await fetcher.fetch("http://h/a") }.code == .declined)
        #expect(try await failure { try await fetcher.fetch("http://h/a") }.cause is Oops)
    }

    // MARK: Redirects

    @Test func `a redirect is followed to the target that the hook returns`() async throws {
        let script = Script([.head(302, ["Location": "/b"]), .head(200, [:], png)])
        let seen = Watched<[String]>([])
        let fetcher = HTTPFetcher.make(script) {
            $0.redirectHook = { head, next in
                seen.update { $0.append("\(head.status) \(next.url.absoluteString)") }
                var next = next
                next.fields["X-Hop"] = "1"
                return next
            }
        }
        #expect(try await fetcher.fetch("http://h/a").data == png)
        #expect(seen.value == ["302 http://h/b"])
        #expect(script.requests.value.last?.fields["X-Hop"] == "1")
        #expect(script.requests.value.last?.url.absoluteString == "http://h/b")
    }

    @Test func `a redirect that the hook refuses or sends to another scheme is an error`() async throws {
        let redirect = Script.Response.head(302, ["Location": "/b"])
        let declining = HTTPFetcher.make(Script([redirect])) { $0.redirectHook = { _, _ in nil } }
        #expect(try await failure { try await declining.fetch("http://h/a") }.code == .badRedirect)
        let leaving = HTTPFetcher.make(Script([redirect])) {
            $0.redirectHook = { _, _ in URL(string: "file:///etc/hostname").map { HTTPRequest(url: $0) } }
        }
        #expect(try await failure { try await leaving.fetch("http://h/a") }.code == .badRedirect)
        let failing = HTTPFetcher.make(Script([redirect])) { $0.redirectHook = { _, _ in throw Oops() } }
        #expect(try await failure { try await failing.fetch("http://h/a") }.cause is Oops)
    }

    @Test func `the number of redirects is limited`() async throws {
        let script = Script(Array(repeating: .head(302, ["Location": "/b"]), count: 9))
        let fetcher = HTTPFetcher.make(script) { $0.maximumRedirectCount = 3 }
        #expect(try await failure { try await fetcher.fetch("http://h/a") }.code == .badRedirect)
        #expect(script.requests.value.count == 4)
    }

    @Test func `messages repeat at most 200 characters of what they are given`() async throws {
        struct LongError: Error, CustomStringConvertible {
            var description: String { String(repeating: "e", count: 1 << 20) }
        }
        let fetcher = HTTPFetcher.make(Script([])) { $0.modifyRequest = { _ in throw LongError() } }
        let url = try #require(URL(string: "http://h/a"))
        let hook = try await failure { try await fetcher.prepare(HTTPRequest(url: url)) }
        #expect(hook.code == .hook)
        #expect(hook.message.utf8.count < 300)
        let path = "/none/" + String(repeating: "p", count: 1 << 20)
        let file = try await failure {
            try await HTTPFetcher.make(Script([.head(200, [:], png)])).fetch(HTTPRequest(url: url), to: path) { _ in }
        }
        #expect(file.code == .unwritableFile)
        #expect(file.message.utf8.count < 300)
    }

    // MARK: Alternative URLs

    private func alternatives(_ script: Script, _ failed: FailureCache? = nil) -> HTTPFetcher {
        HTTPFetcher.make(script) {
            $0.failureCache = failed
            $0.modifyRequest = { request in
                var request = request
                request.fields["Modified"] = "1"
                return request.url.path == "/declined" ? nil : request
            }
            $0.alternatives = { request in
                ["/declined", "/b", "/c"].compactMap { path in
                    URL(string: path, relativeTo: request.url).map { HTTPRequest(url: $0.absoluteURL) }
                }
            }
        }
    }

    @Test func `alternative URLs are tried in order`() async throws {
        let script = Script([.head(404, [:]), .failure(.cannotConnect), .head(200, [:], png)])
        let download = try await alternatives(script).fetch("http://h/a")
        #expect(download.data == png)
        #expect(download.head?.url.absoluteString == "http://h/c")
        #expect(script.requests.value.map(\.url.absoluteString) == ["http://h/a", "http://h/b", "http://h/c"])
        #expect(script.requests.value.map { $0.fields["Modified"] } == [nil, "1", "1"])
    }

    @Test func `a constrained network is not retried, but a smaller alternative is loaded`()
        async throws
    {
        let failed = FailureCache()
        let script = Script([.failure(.dataNotAllowed), .failure(.dataNotAllowed), .head(200, [:], png)])
        let fetcher = HTTPFetcher.make(script) { configuration in
            configuration.retries()
            configuration.failureCache = failed
            configuration.alternatives = { request in
                request.url.path == "/large" ? [HTTPRequest(url: request.url.appending(path: "small"))] : []
            }
        }
        #expect(try await failure { try await fetcher.fetch("http://h/a") }.code == .transport(.dataNotAllowed))
        #expect(try await fetcher.fetch("http://h/large").data == png)
        #expect(script.requests.value.map(\.url.path) == ["/a", "/large", "/large/small"])
        #expect(failed.count == 0)
    }

    @Test func `when all alternatives fail, the first URL's error is thrown`() async throws {
        let script = Script([.head(404, [:]), .head(500, [:]), .failure(.timedOut)])
        #expect(try await failure { try await alternatives(script).fetch("http://h/a") }.code == .status(404))
        #expect(script.requests.value.count == 3)
    }

    /// The token that an attempt sends may have expired before the next one.
    @Test func `the modifier runs again before each attempt of an alternative`() async throws {
        let script = Script([.head(404, [:]), .head(503, [:]), .head(503, [:]), .head(200, [:], png)])
        let tokens = Locked(0)
        let fetcher = HTTPFetcher.make(script) {
            $0.retries()
            $0.retry.baseDelay = .zero
            $0.modifyRequest = { request in
                var request = request
                request.fields["Token"] = tokens.withLock { count in
                    count += 1
                    return String(count)
                }
                return request
            }
            $0.alternatives = { [HTTPRequest(url: $0.url.appending(path: "b"))] }
        }
        #expect(try await fetcher.fetch("http://h/a").data == png)
        #expect(script.requests.value.map(\.url.path) == ["/a", "/a/b", "/a/b", "/a/b"])
        #expect(script.requests.value.dropFirst().map { $0.fields["Token"] } == ["1", "2", "3"])
    }

    /// The alternative is made of the request, whose token has expired.
    @Test func `an alternative begins with the token of the last attempt's modifiers`() async throws {
        let transport = FakeTransport { request in
            let isServed = request.url.path == "/mirror" && request.fields["Token"] == "4"
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: isServed ? 200 : 503), body: HTTPBody(png))
        }
        let tokens = Locked(0)
        var configuration = DownloaderConfiguration()
        configuration.retries(2)
        configuration.retry.baseDelay = .zero
        configuration.alternatives = { request in
            var mirror = request
            mirror.url = request.url.deletingLastPathComponent().appending(path: "mirror")
            return [mirror]
        }
        let downloader = Downloader(transport: transport, configuration: configuration)
        @Sendable func next() throws -> HTTPRequest {
            let token = tokens.withLock { count in
                count += 1
                return String(count)
            }
            return HTTPRequest(url: try #require(URL(string: "http://h/a")), fields: ["Token": token])
        }
        var request = DownloadRequest(.http(try next()))
        request.renewal = { try next() }
        #expect(try await downloader.download(request).data == png)
        #expect(transport.requests.map { $0.fields["Token"] } == ["1", "2", "3", "4"])
    }

    @Test(arguments: [true, false])
    func `an alternative whose next attempt has another URL is not shared`(isOther: Bool) async throws {
        let script = Script([.head(404, [:]), .head(503, [:]), .head(200, [:], png)])
        let paths = Locked(["b", isOther ? "c" : "b"])
        let fetcher = HTTPFetcher.make(script) {
            $0.retries()
            $0.retry.baseDelay = .zero
            $0.modifyRequest = { request in
                HTTPRequest(url: request.url.appending(path: paths.withLock { $0.removeFirst() }))
            }
            $0.alternatives = { [$0] }
        }
        #expect((try await fetcher.fetch("http://h/a").varyingFieldNames == nil) == isOther)
    }

    @Test func `an alternative with a cached failure is skipped`() async throws {
        let script = Script([.head(404, [:]), .head(200, [:], png), .head(200, [:], png)])
        let fetcher = alternatives(script, FailureCache())
        for _ in 0..<2 { #expect(try await fetcher.fetch("http://h/a").data == png) }
        #expect(script.requests.value.map(\.url.path) == ["/a", "/b", "/b"])
    }

    @Test func `neither a cancellation nor 304 leads to an alternative`() async throws {
        let cancelled = Script([.cancellation, .head(200, [:], png)])
        await #expect(throws: CancellationError.self) { try await alternatives(cancelled).fetch("http://h/a") }
        let unchanged = Script([.head(304, [:]), .head(200, [:], png)])
        #expect(try await failure { try await alternatives(unchanged).fetch("http://h/a") }.code == .notModified)
        #expect(cancelled.requests.value.count == 1)
        #expect(unchanged.requests.value.count == 1)
    }

    private struct NoDecoder: ImageDecoding {
        func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            throw ImageDecodingError(.unknownFormat, "none")
        }
    }
}
