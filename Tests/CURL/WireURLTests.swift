import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Testing

/// The URL that a server receives. A proxy records it, with its host.
@Suite(.timeLimit(.minutes(10)))
struct WireURLTests {
    /// Each row: the text of a URL or reference, and the URL that is requested.
    private static let rows: [(text: String, sent: String)] = [
        ("http://h.test/my%20file 2.png", "http://h.test/my%20file%202.png"),
        ("http://h.test/100% é%C3%A9", "http://h.test/100%25%20%C3%A9%C3%A9"),
        ("/a b?c d%20'e'#f g", "http://base.test/a%20b?c%20d%20%27e%27"),
        ("12:30.png", "http://base.test/x/12:30.png"), ("./a:b", "http://base.test/x/a:b"),
        ("\\\\o.test\\a\\..\\b", "http://o.test/b"), ("../%2e%2E/./c", "http://base.test/c"),
        ("?q[]={1}", "http://base.test/x/y?q%5B%5D=%7B1%7D"), ("http://H.test:80", "http://h.test/"),
        ("http:///h.test//a//", "http://h.test//a//"), ("\t http://h.te\nst/ ", "http://h.test/"),
        ("http://0x7f.1:8080/a", "http://127.0.0.1:8080/a"), ("http://[0:0::1]/", "http://[::1]/"),
        ("http://b%C3%BCcher.test/", "http://xn--bcher-kva.test/"),
        ("http://FA%C3%9F.test/", "http://xn--fa-hia.test/"),
        ("http://h.test/a%2fb%5C%2e", "http://h.test/a%2fb%5C%2e"),
        (
            "http://h.test/;a=1/!$&'()*+,@:",
            "http://h.test/;a=1/!$&'()*+,@:"
        ),
    ]

    private func requested(_ request: HTTPRequest, location: String? = nil) async throws -> String? {
        let proxy = try LoopbackOrigin { seen in
            guard let location, seen.target == request.url.absoluteString else { return .text("end") }
            return .redirect(to: location)
        }
        defer { proxy.stop() }
        var options = CURLOptions()
        options.proxy = .url(proxy.url)
        let response = try await CURLTransport(options: options).sendFollowingRedirects(request)
        _ = try await response.body.collect(limit: 100)
        return proxy.requests.last?.target
    }

    @Test(arguments: rows) func `a URL is sent as browsers send it`(row: (text: String, sent: String)) async throws {
        let url = try #require(URL(webString: row.text, relativeTo: URL(string: "http://base.test/x/y?z")))
        #expect(try await requested(HTTPRequest(url: url, idleTimeout: .seconds(120))) == row.sent)
    }

    @Test(arguments: rows) func `a redirect is followed as browsers follow it`(row: (text: String, sent: String))
        async throws
    {
        let url = try #require(URL(string: "http://base.test/x/y?z"))
        // Servers send UTF-8, each byte of which is a code point of a field.
        let location = String(String.UnicodeScalarView(row.text.utf8.map { Unicode.Scalar($0) }))
            .replacing("\t ", with: "").replacing("\n", with: "")
        #expect(try await requested(HTTPRequest(url: url, idleTimeout: .seconds(120)), location: location) == row.sent)
    }

    @Test(arguments: [
        ("http://b%C3%BCcher.test/", "http://xn--bcher-kva.test/"), ("http://0x7F.1/", "http://127.0.0.1/"),
        ("http://h.test/a/%2e%2e/b", "http://h.test/b"), ("HTTP://H.test?q", "http://h.test/?q"),
    ])
    func `a URL that an app has made is normalized before it is sent`(text: String, sent: String) async throws {
        let url = try #require(URL(string: text))
        #expect(try await requested(HTTPRequest(url: url, idleTimeout: .seconds(120))) == sent)
    }

    @Test(arguments: ["http://a%20b/", "http://%FF.test/", "http://1.2.3.4.5/", "http://a%00.test/", "http://h:99999/"])
    func `a URL without a valid host or port is refused`(text: String) async throws {
        let url = try #require(URL(string: text))
        let error = await #expect(throws: HTTPTransportError.self) {
            try await requested(HTTPRequest(url: url, idleTimeout: .seconds(120)))
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test func `a pin of an international name applies to all its spellings`() {
        var options = CURLOptions()
        options.trustedHosts = ["B\u{FC}cher.test.", "xn--fa-hia.de"]
        #expect(options.trustedHosts == ["xn--bcher-kva.test", "xn--fa-hia.de"])
    }

    @Test(arguments: [3 << 20, 9 << 20]) func `a URL of megabytes fails with a short message`(count: Int) async throws {
        let origin = try LoopbackOrigin { _ in .text("x") }
        defer { origin.stop() }
        let text = String(repeating: "a", count: count)
        let requests = [
            HTTPRequest(url: origin.url(for: "/\(text)"), idleTimeout: .seconds(120)),
            HTTPRequest(url: try #require(URL(string: "http://\(text).test/")), idleTimeout: .seconds(120)),
            HTTPRequest(url: origin.url(for: "/"), fields: ["X-Long": text], idleTimeout: .seconds(120)),
        ]
        for request in requests {
            let error = await #expect(throws: HTTPTransportError.self) { try await CURLTransport().send(request) }
            #expect(error?.code == .invalidRequest)
            #expect(try #require(error).message.contains("the maximum is 1000000"))
            #expect(try #require(error).message.utf8.count < 500)
        }
        #expect(origin.requests.isEmpty)
    }

    @Test func `a URL of half a megabyte is sent`() async throws {
        var options = OriginOptions()
        options.headLimit = 1 << 20
        let origin = try LoopbackOrigin(options: options) { _ in .text("x") }
        defer { origin.stop() }
        let url = origin.url(for: "/" + String(repeating: "a", count: 1 << 19))
        let response = try await CURLTransport().send(HTTPRequest(url: url, idleTimeout: .seconds(120)))
        #expect(response.head.status == 200)
    }
}
