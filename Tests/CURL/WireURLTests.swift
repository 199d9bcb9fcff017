import AlcedoCURL
import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import Testing

/// The requests for the URLs of ``URLTable``, as a proxy receives them.
@Suite(.timeLimit(.minutes(10)))
struct WireURLTests {
    private struct Outcome {
        let requests: [OriginRequest]
        let connectionCount: Int
        let error: DownloadError?
    }

    /// The parts of a request for a URL that reach a proxy.
    private struct Received: Equatable {
        let method: String
        let target: String
        let host: String?
        /// The proxy does not see the credentials of a request with TLS, because it does not let it pass.
        let authorization: String?
        /// The error of the download: the proxy refuses requests with TLS.
        var failure: DownloadError.Code? { method == "CONNECT" ? .transport(.proxyRefused) : nil }

        init(_ request: OriginRequest) {
            (method, target) = (request.method.rawValue, request.target)
            (host, authorization) = (request.fields["Host"], request.fields["Authorization"])
        }

        init(for url: String) throws {
            let scheme = try #require(url.firstRange(of: "://"))
            let rest = url[scheme.upperBound...].prefix { $0 != "#" }
            let authority = rest.prefix { $0 != "/" }
            let user = authority.lastIndex(of: "@").map { authority[..<$0] }
            let host = String(user.map { authority.dropFirst($0.count + 1) } ?? authority)
            if url.hasPrefix("https:") {
                let hasPort = host.contains(":") && !host.hasSuffix("]")
                (method, target) = ("CONNECT", hasPort ? host : "\(host):443")
                (self.host, authorization) = (target, nil)
            } else {
                let path = rest.dropFirst(authority.count)
                // libcurl leaves out an empty query.
                let sent = path.firstIndex(of: "?") == path.indices.last ? path.dropLast() : path
                (method, target, self.host) = ("GET", "http://\(host)\(sent)", host)
                authorization = user.map { user in
                    let pair = user.contains(":") ? String(user) : "\(user):"
                    return "Basic \(Data(pair.utf8.percentDecodedLeniently()).base64EncodedString())"
                }
            }
        }
    }

    /// Downloads a URL over a proxy that redirects the first request to `location`.
    private func download(_ url: URL, redirectingTo location: String? = nil) async throws -> Outcome {
        let proxy = try LoopbackOrigin { request in
            // On a connection to a proxy that it has used for a name, libcurl 7.88 sends the `Host` of an IPv6 address
            // without brackets.
            if let location, request.number == 1 { return .redirect(to: location).framed(.close) }
            return request.method.rawValue == "CONNECT" ? .status(403) : .text("end")
        }
        defer { proxy.stop() }
        var options = CURLOptions()
        options.proxy = .url(proxy.url)
        var failure: DownloadError?
        do {
            let source = ImageSource.http(HTTPRequest(url: url, idleTimeout: .seconds(120)))
            _ = try await Downloader(transport: CURLTransport(options: options)).download(DownloadRequest(source))
        } catch let error as DownloadError {
            failure = error
        }
        let state = proxy.state
        return Outcome(requests: state.requests, connectionCount: state.connectionCount, error: failure)
    }

    @Test func `the table has a reason for each difference from browsers`() throws {
        let table = try URLTable.load()
        for row in table.rows where row.differs != nil { #expect(row.expected != row.url, "\(row)") }
        #expect(Set(table.rows.compactMap(\.differs?.reason)) == Set(table.reasons.keys))
        // The rows of the platform tests: URLs, and texts that are refused.
        #expect(table.rows.prefix(432).count { $0.url != nil } == 229)
        #expect(table.rows.prefix(432).count { $0.url == nil } == 203)
    }

    @Test(arguments: try URLTable.load().rows)
    func `text is parsed as browsers parse it`(row: URLTable.Row) throws {
        let base = try row.base.map { try #require(URL(string: $0)) }
        #expect(URL(webString: row.text, relativeTo: base)?.absoluteString == row.expected)
        // The parsed URL stays as it is, and the shortcut for URLs in normal form does not accept another one.
        if let expected = row.expected { #expect(WebURL(expected)?.text == expected) }
        for text in [row.text, row.expected ?? ""] where WebURL.isNormal(text) {
            #expect(WebURL(text)?.sentText == text)
        }
    }

    @Test(arguments: try URLTable.rows { $0.expected != nil })
    func `a load requests what browsers request`(row: URLTable.Row) async throws {
        let url = try #require(URL(webString: row.text, relativeTo: row.base.flatMap { URL(string: $0) }))
        let expected = try Received(for: #require(row.expected))
        let outcome = try await download(url)
        #expect(outcome.requests.map { Received($0) } == [expected])
        #expect(outcome.error?.code == expected.failure)
    }

    /// A redirect has a base, so that it cannot stand for a text without one, except if the text is an absolute URL.
    /// The proxy sees only redirects of `http`, and a field cannot contain control characters.
    @Test(
        arguments: try URLTable.rows {
            let isAbsolute = $0.text.contains("//") || $0.text.contains(#"\\"#)
            return ($0.base ?? (isAbsolute ? "http:" : "")).hasPrefix("http:")
                && $0.text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        })
    func `a redirect is followed as browsers follow it`(row: URLTable.Row) async throws {
        let base = try #require(URL(string: row.base ?? "http://base.test/x/y?z"))
        // Servers send UTF-8, each byte of which is a code point of a field.
        let location = String(String.UnicodeScalarView(row.text.utf8.map { Unicode.Scalar($0) }))
        let outcome = try await download(base, redirectingTo: location)
        guard let target = row.expected else {
            #expect(outcome.error?.code == .badRedirect)
            #expect(try #require(outcome.error).description.utf8.count < 300)
            #expect(outcome.requests.count == 1)
            #expect(outcome.connectionCount == 1)
            return
        }
        let expected = try Received(for: target)
        #expect(outcome.requests.count == 2)
        #expect(outcome.requests.last.map { Received($0) } == expected)
        #expect(outcome.error?.code == expected.failure)
    }

    /// Foundation refuses the other texts itself, and makes an escape of a fullwidth percent sign.
    @Test(
        arguments: try URLTable.rows {
            $0.expected == nil && !$0.text.contains("\u{FF05}") && URL(string: $0.text) != nil
        })
    func `a URL that browsers refuse fails without a connection`(row: URLTable.Row) async throws {
        let outcome = try await download(try #require(URL(string: row.text)))
        #expect(outcome.error?.code == .transport(.invalidRequest))
        #expect(try #require(outcome.error).description.utf8.count < 300)
        #expect(outcome.connectionCount == 0)
    }

    @Test(arguments: [
        ("http://b%C3%BCcher.test/", "http://xn--bcher-kva.test/"), ("http://0x7F.1/", "http://127.0.0.1/"),
        ("http://h.test/a/%2e%2e/b", "http://h.test/b"), ("HTTP://H.test?q", "http://h.test/?q"),
    ])
    func `a URL that an app has made is normalized before it is sent`(text: String, sent: String) async throws {
        let outcome = try await download(try #require(URL(string: text)))
        #expect(outcome.requests.map(\.target) == [sent])
    }

    @Test func `a port that browsers block is not blocked`() async throws {
        let outcome = try await download(try #require(URL(string: "http://h.test:6667/a")))
        #expect(outcome.requests.map(\.target) == ["http://h.test:6667/a"])
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
