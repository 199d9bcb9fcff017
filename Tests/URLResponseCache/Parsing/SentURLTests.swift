import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Testing

@testable import AlcedoURLResponseCache

/// The request that is sent and the key that is used refer to the same resource. RFC 3986 section 6.2.2.
@Suite(.timeLimit(.minutes(10)))
struct SentURLTests {
    /// A server that distinguishes targets byte for byte.
    private let origin: LoopbackOrigin

    init() throws {
        origin = try LoopbackOrigin { request in
            OriginReply(fields: ["Cache-Control": "max-age=600"], body: Data(request.target.utf8))
        }
    }

    private func url(_ target: String) throws -> URL { try #require(URL(string: origin.url.absoluteString + target)) }

    private func target(_ url: URL, through transport: any HTTPTransport) async throws -> String {
        let response = try await transport.send(HTTPRequest(url: url, idleTimeout: .seconds(120)))
        #expect(response.head.url == url)
        return String(decoding: try await response.body.collect(limit: 1_000), as: UTF8.self)
    }

    /// Each row: the URL, the target that libcurl sends, and the part of the key after the origin.
    @Test(arguments: [
        ("", "/", "/"), ("#f", "/", "/"), ("?q", "/?q", "/?q"), ("/a#f", "/a", "/a"),
        ("/x/../b", "/b", "/b"), ("/../b", "/b", "/b"), ("//../b", "/b", "/b"), ("/a//../b", "/a/b", "/a/b"),
        ("/a/./b", "/a/b", "/a/b"), ("/a/..", "/", "/"), ("/a/.", "/a/", "/a/"), ("/a/..#f", "/", "/"),
        ("/a/../?q=/../", "/?q=/../", "/?q=/../"), ("/a/../..//b", "//b", "//b"), ("/a/%2e%2e/../b", "/b", "/b"),
        ("/x/%2e%2e/b", "/b", "/b"), ("/x/%2E./b", "/b", "/b"), ("/x/%2e/b", "/x/b", "/x/b"), ("/.%2e", "/", "/"),
        ("/x/%2e%2e%2e/b", "/x/%2e%2e%2e/b", "/x/.../b"), ("/a/..;x/b", "/a/..;x/b", "/a/..;x/b"),
        ("/a/..%2fb", "/a/..%2fb", "/a/..%2Fb"), ("/a%5c..%5cb", "/a%5c..%5cb", "/a%5C..%5Cb"),
        ("/a\\..\\b", "/a%5C..%5Cb", "/a%5C..%5Cb"), ("/a%2epng", "/a%2epng", "/a.png"), ("/%7Eme", "/%7Eme", "/~me"),
        ("/a//b", "/a//b", "/a//b"),
        ("/.../.a", "/.../.a", "/.../.a"),
    ])
    func `a key names the target that libcurl sends`(row: (spelling: String, sent: String, key: String)) async throws {
        defer { origin.stop() }
        let url = try url(row.spelling)

        // libcurl 8.23 sends escapes in upper case. 7.88 and 8.14 send them unchanged.
        let sent = try await target(url, through: CURLTransport())
        #expect(sent == row.sent || sent == row.sent.replacing(/%[0-9a-f]{2}/) { $0.output.uppercased() })
        #expect(HTTPRequest(url: url).resourceKey.description == origin.url.absoluteString + row.key)
    }

    @Test(arguments: ["/x/..%2fb", "/x%2f../b", "/x/%2e%2e%2fb", "/x/%252e%252e/b"])
    func `a response to a name that resembles a dot segment is not used for the path without it`(spelling: String)
        async throws
    {
        defer { origin.stop() }
        let cache = CachingTransport(wrapping: CURLTransport(), store: MemoryResponseStore())

        let poison = try await target(try url(spelling), through: cache)
        let content = try await target(try url("/b"), through: cache)

        #expect(poison != "/b")
        #expect(content == "/b")
        #expect(try await target(try url(spelling), through: cache) == poison)
        #expect(origin.requests.count == 2)
    }

    @Test(arguments: [
        ("http://u:p@example.test/a/./b/../c?d=/../#e", "http://u:p@example.test/a/c?d=/../#e"),
        ("http://example.test/..", "http://example.test/"), ("http://example.test/a/.b", "http://example.test/a/.b"),
        ("http://example.test/a/%2e./b", "http://example.test/b"),
        ("http://example.test", "http://example.test"),
        ("http://example.test?/../", "http://example.test?/../"), ("http://example.test/?a", "http://example.test/?a"),
    ])
    func `a transport that sends URLs unchanged receives one without dot segments`(
        row: (requested: String, sent: String)
    ) async throws {
        let bench = Bench()
        bench.server.respond()
        let url = Bench.url(row.requested)
        let response = try await bench.cache.send(HTTPRequest(url: url))

        #expect(bench.server.requests.last?.url.absoluteString == row.sent)
        #expect(response.head.url == url)
    }
}
