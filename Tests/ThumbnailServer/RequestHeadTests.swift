import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

/// Heads that are ambiguous, and those that are not.
@Suite(.timeLimit(.minutes(5)))
struct RequestHeadTests {
    /// Returns the heads in a text, which arrives in pieces of `count` bytes.
    private func heads(_ text: String, piece count: Int = .max) throws(HTTPError) -> [RequestHead] {
        var (received, heads) = (ReceivedHeads(), [RequestHead]())
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(min(count, received.space)))
            piece.withUnsafeBytes { received.append($0) }
            rest = rest.dropFirst(piece.count)
            while let head = try received.next() { heads.append(head) }
        }
        return heads
    }

    static let ambiguous: [String] = [
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length\t: 5\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\u{0}b\r\n\r\n", "GET /\u{0} HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX\u{0}: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: a\u{1}b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\u{7F}b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nX: a\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a:b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a:70000\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a:1:2\r\n\r\n", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: [x]\r\n\r\n", "GET / HTTP/1.1\r\nHost: ::1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a%zz\r\n\r\n", "GET / HTTP/1.1\r\nHost: \u{E9}\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n\tb\r\n\r\n",
        "GET / HTTP/1.1\r\n Host: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n \r\n\r\n",
        "GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\r\nHost: a\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\n",
        "GET / HTTP/1.1\nHost: a\r\n\r\n", "GET / HTTP/1.1\rHost: a\r\r",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n",
        "GET / HTTP/1.2\r\nHost: a\r\n\r\n", "GET / HTTP/1.9\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.10\r\nHost: a\r\n\r\n", "GET / HTTP/1\r\nHost: a\r\n\r\n",
        "GET / http/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", "GET /\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /\tHTTP/1.1\r\nHost: a\r\n\r\n",
        " GET / HTTP/1.1\r\nHost: a\r\n\r\n", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET a HTTP/1.1\r\nHost: a\r\n\r\n", "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET http:/// HTTP/1.1\r\nHost: a\r\n\r\n", "GET /\u{E9} HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX y: z\r\n\r\n", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    ]

    @Test(arguments: ambiguous, [Int.max, 1])
    func `an ambiguous head is malformed, however it arrives`(text: String, piece: Int) {
        #expect(throws: HTTPError.malformed) { try heads(text, piece: piece) }
    }

    @Test(arguments: ambiguous)
    func `an ambiguous head receives 400 and a closed connection, and what follows is not read`(
        text: String
    ) async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            client.send(text + "GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
            let response = try await client.readToEnd()
            #expect(response.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(response.contains("\r\nConnection: close\r\n"))
            #expect(response.split(separator: "HTTP/1.1 ").count == 1)
        }
    }

    @Test(arguments: [Int.max, 1, 7])
    func `heads that follow each other are parsed with their fields`(piece: Int) throws {
        let text = """
            GET /a?b=c HTTP/1.1\r\nHost: [::1]:80\r\nAccept:image/png\r\nACCEPT: \t image/webp \t \r\n\r\n\
            \r\nHEAD http://a.test?x HTTP/1.1\r\nHost: a_b%20:\r\nConnection: x, CLOSE\r\nContent-Length: 00\r\n\r\n\
            PUT / HTTP/1.0\r\nConnection: Keep-Alive\r\nContent-Length: 7\r\nIf-None-Match: "\u{E9}"\r\n\r\n\
            GET / HTTP/1.0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n
            """
        let found = try heads(text, piece: piece)
        try #require(found.count == 5)
        #expect(found.map(\.method) == ["GET", "HEAD", "PUT", "GET", "GET"])
        #expect(found.map(\.target) == ["/a?b=c", "/?x", "/", "/", "/"])
        #expect(found.map(\.keepsConnection) == [true, false, true, false, true])
        #expect(found.map(\.hasBody) == [false, false, true, false, true])
        #expect(found.map(\.minorVersion) == [1, 1, 0, 0, 1])
        #expect(found[0].accept == "image/png, image/webp")
        #expect(found[2].ifNoneMatch == "\"\u{E9}\"")
    }

    @Test func `other versions and long heads have their own status`() {
        for version in ["HTTP/2.0", "HTTP/0.9", "HTTP/9.9"] {
            let error = #expect(throws: HTTPError.self) { try heads("GET / \(version)\r\nHost: a\r\n\r\n") }
            #expect(error?.status == 505)
        }
        let long = String(repeating: "a", count: ReceivedHeads.limit)
        #expect(throws: HTTPError(414, "the target is too long")) { try heads("GET /\(long) HTTP/1.1\r\n") }
        let error = #expect(throws: HTTPError.self) { try heads("GET / HTTP/1.1\r\nHost: a\r\nX: \(long)\r\n") }
        #expect(error?.status == 431)
    }

    @Test func `a head of the greatest length is served, and each of several is`() throws {
        let start = "GET / HTTP/1.1\r\nHost: a\r\nX: "
        let text = start + String(repeating: "a", count: ReceivedHeads.limit - start.utf8.count - 4) + "\r\n\r\n"
        #expect(try heads(text + text + text).count == 3)
    }
}
