import AlcedoCURL
import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RedirectTests {
    private static let secrets: HTTPFields = [
        "Authorization": "Bearer secret", "Cookie": "a=b", "Proxy-Authorization": "Basic secret", "Accept": "image/*",
    ]

    private func code(_ downloader: Downloader, _ source: ImageSource) async throws -> DownloadError.Code {
        try await failure { try await downloader.download(source) }.code
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a chain of redirects is followed to its end`(status: Int) async throws {
        let origin = try LoopbackOrigin { request in
            let hop = Int(request.path.dropFirst()) ?? 0
            return hop < 5 ? .redirect(to: "/\(hop + 1)?q", status: status) : .text("end")
        }
        defer { origin.stop() }

        let download = try await Downloader(transport: CURLTransport())
            .download(.http(HTTPRequest(url: origin.url(for: "/0"), idleTimeout: .seconds(120))))

        #expect(download.data == Data("end".utf8))
        #expect(download.head?.url == origin.url(for: "/5?q"))
        #expect(origin.requests.map(\.target) == ["/0", "/1?q", "/2?q", "/3?q", "/4?q", "/5?q"])
    }

    @Test(arguments: [0, 1, 3])
    func `the hook is called for each redirect that is followed, and for no other`(limit: Int) async throws {
        let origin = try LoopbackOrigin { _ in .redirect(to: "/again") }
        defer { origin.stop() }
        let hookCalls = Watched(0)
        var configuration = DownloaderConfiguration()
        configuration.maximumRedirectCount = limit
        configuration.redirectHook = { _, next in
            hookCalls.update { $0 += 1 }
            return next
        }
        let downloader = Downloader(transport: CURLTransport(), configuration: configuration)

        #expect(
            try await code(downloader, .http(HTTPRequest(url: origin.url(for: "/a"), idleTimeout: .seconds(120))))
                == .badRedirect)
        #expect(hookCalls.value == limit)
        #expect(origin.requests.count == limit + 1)
    }

    @Test(arguments: [
        ("b?c#d", "/x/b?c"), ("/b", "/b"), ("../b", "/b"), ("?q", "/x/a?q"), ("./b", "/x/b"),
    ])
    func `a relative target is resolved against the redirecting URL`(location: String, target: String) async throws {
        let origin = try LoopbackOrigin { $0.target == "/x/a" ? .redirect(to: location) : .text("end") }
        defer { origin.stop() }

        _ = try await Downloader(transport: CURLTransport())
            .download(.http(HTTPRequest(url: origin.url(for: "/x/a"), idleTimeout: .seconds(120))))

        #expect(origin.requests.last?.target == target)
    }

    @Test func `a redirect loop ends at the limit`() async throws {
        let origin = try LoopbackOrigin { _ in .redirect(to: "/again") }
        defer { origin.stop() }
        let source = ImageSource.http(HTTPRequest(url: origin.url(for: "/again"), idleTimeout: .seconds(120)))

        #expect(try await code(Downloader(transport: CURLTransport()), source) == .badRedirect)
        #expect(origin.requests.count == 21)

        let none = Downloader(transport: CURLTransport(), configuration: .init(maximumRedirectCount: 0))
        #expect(try await code(none, source) == .badRedirect)
        #expect(origin.requests.count == 22)
    }

    @Test func `credentials are sent only to their origin`() async throws {
        let other = try LoopbackOrigin { _ in .text("end") }
        defer { other.stop() }
        let url = other.url(for: "/b").absoluteString
        let origin = try LoopbackOrigin { $0.path == "/a" ? .redirect(to: "/same") : .redirect(to: url) }
        defer { origin.stop() }

        let request = HTTPRequest(url: origin.url(for: "/a"), fields: Self.secrets)
        _ = try await Downloader(transport: CURLTransport()).download(.http(request))

        #expect(origin.requests.map { $0.fields["Authorization"] } == ["Bearer secret", "Bearer secret"])
        let last = try #require(other.requests.first)
        for name in ["Authorization", "Cookie", "Proxy-Authorization"] { #expect(last.fields[name] == nil) }
        #expect(last.fields["Accept"] == "image/*")
    }

    @Test(arguments: [
        ("http://h/a", "http://h:80/b", true), ("http://h/a", "http://H/b", true), ("https://h/a", "http://h/b", false),
        ("http://h/a", "https://h/b", false), ("http://h/a", "http://h:81/b", false),
        ("http://h/a", "http://h.evil/b", false), ("https://h/a", "https://h:443/b", true),
        ("http://h/a", "//h/b", true), ("http://h/a", "//other/b", false),
    ])
    func `an origin consists of scheme, host and port`(from: String, to: String, isSame: Bool) async throws {
        let transport = FakeTransport { request in
            let isFirst = request.url.path == "/a"
            let fields: HTTPFields = isFirst ? ["Location": to] : HTTPFields()
            let head = HTTPResponseHead(url: request.url, status: isFirst ? 302 : 200, fields: fields)
            return HTTPResponse(head: head, body: HTTPBody(Data([1])))
        }

        _ = try await Downloader(transport: transport).download(web(from, Self.secrets))

        #expect((transport.requests.last?.fields["Authorization"] != nil) == isSame)
    }

    @Test(arguments: [
        "file:///etc/hostname", "ftp://h/a", "data:,a", "javascript:1", "http://", "http:///", "FILE:/etc/hostname",
    ])
    func `a redirect to another scheme is refused`(location: String) async throws {
        let transport = FakeTransport(body: Data([1]), status: 302, fields: ["Location": location])
        #expect(try await code(Downloader(transport: transport), web("http://h/a")) == .badRedirect)
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: [
        ("/b?\u{C3}\u{A9}", "http://h/b?%C3%A9"), ("/\u{FC}", "http://h/%FC"),
        ("/%20\u{C3}\u{A9}%2F", "http://h/%20%C3%A9%2F"), ("b/\u{20AC}", "http://h/b/%E2%82%AC"),
    ])
    func `non-ASCII bytes of a target are sent unchanged`(location: String, target: String) async throws {
        let transport = FakeTransport { request in
            let isFirst = request.url.path == "/a"
            let fields: HTTPFields = isFirst ? ["Location": location] : HTTPFields()
            let head = HTTPResponseHead(url: request.url, status: isFirst ? 302 : 200, fields: fields)
            return HTTPResponse(head: head, body: HTTPBody(Data([1])))
        }
        _ = try await Downloader(transport: transport).download(web("http://h/a"))
        #expect(transport.requests.last?.url.absoluteString == target)
    }

    @Test func `a redirect does not wait for a stalled body`() async throws {
        let clock = ManualClock()
        let cancellations = Watched(0)
        let transport = FakeTransport { request in
            guard request.url.path == "/a" else {
                return HTTPResponse(
                    head: HTTPResponseHead(url: request.url, status: 200), body: HTTPBody(Data("x".utf8)))
            }
            let pipe = HTTPBodyPipe(onSpace: {}, onCancel: { cancellations.update { $0 += 1 } })
            let head = HTTPResponseHead(url: request.url, status: 302, fields: ["Location": "/b"])
            return HTTPResponse(head: head, body: HTTPBody(pipe))
        }
        let downloader = Downloader(transport: transport, clock: clock)
        let task = Task { try await downloader.download(web("http://h/a")) }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(100))
        #expect(try await task.value.data == Data("x".utf8))
        #expect(cancellations.value == 1)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a redirect without a target is refused`() async throws {
        let transport = FakeTransport(body: Data([1]), status: 301)
        #expect(try await code(Downloader(transport: transport), web("http://h/a")) == .badRedirect)
    }

    @Test(arguments: ["ftp://me:secret@h/b", "http://me:secret@h/b", "//me:secret@h/b"])
    func `no error contains a password`(location: String) async throws {
        let transport = FakeTransport(body: Data([1]), status: 302, fields: ["Location": location])
        let error = try await failure {
            try await Downloader(transport: transport).download(web("http://me:secret@h/a"))
        }
        #expect(error.code == .badRedirect)
        #expect(!error.message.contains("secret"))
        for (status, code) in [(404, DownloadError.Code.status(404)), (304, .notModified), (302, .badRedirect)] {
            let transport = FakeTransport(body: Data([1]), status: status)
            let error = try await failure {
                try await Downloader(transport: transport).download(web("http://me:secret@h/a"))
            }
            #expect(error.code == code)
            #expect(!error.message.contains("secret"))
            #expect(error.message.contains("http://h/a"))
        }
    }

    @Test(arguments: [
        (301, HTTPMethod.post, HTTPMethod.get), (302, .post, .get), (303, .post, .get), (307, .post, .post),
        (308, .post, .post), (303, .put, .get), (301, .put, .put), (303, .head, .head), (302, .get, .get),
    ])
    func `a redirect changes the method as the standard requires`(status: Int, method: HTTPMethod, then: HTTPMethod)
        async throws
    {
        let transport = FakeTransport { request in
            let isFirst = request.url.path == "/a"
            let fields: HTTPFields = isFirst ? ["Location": "/b"] : HTTPFields()
            let head = HTTPResponseHead(url: request.url, status: isFirst ? status : 200, fields: fields)
            return HTTPResponse(head: head, body: HTTPBody(Data([1])))
        }
        let url = try #require(URL(string: "http://h/a"))
        let fields: HTTPFields = ["Content-Type": "text/plain", "Content-Length": "4", "Accept": "image/*"]
        let request = HTTPRequest(method: method, url: url, fields: fields, body: Data("body".utf8))

        _ = try await Downloader(transport: transport).download(.http(request))

        let last = try #require(transport.requests.last)
        let isGET = then == .get && method != .get
        #expect(last.method == then)
        #expect((last.body == nil) == isGET)
        #expect((last.fields["Content-Type"] == nil) == isGET)
        #expect((last.fields["Content-Length"] == nil) == isGET)
        #expect(last.fields["Accept"] == "image/*")
    }
}
