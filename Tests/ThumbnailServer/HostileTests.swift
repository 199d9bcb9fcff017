import Alcedo
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

/// Hostile clients.
@Suite(.timeLimit(.minutes(10)))
struct HostileTests {
    private static let long = String(repeating: "a", count: 100_000)

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: a\r\nX: \(long)\r\n\r\n", "GET /\(long) HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: a\r\n", count: 20_000) + "\r\n",
        "GET /thumbnail?\(String(repeating: "a&", count: 4_000)) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET /thumbnail?url=%00%ff%zz%&%%% HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET /thumbnail?url=http://127.0.0.1/&w=99999999999999999999999 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\r\n\r\n\r\n\r\nGARBAGE\r\n\r\n",
        "GET http://a/thumbnail?w=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET /thumbnail HTTP/1.1\r\nHost: a\r\nAccept: \(String(repeating: ",;=\"", count: 2_000))\r\nConnection: close\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: a\r\nIf-None-Match: \(String(repeating: "\",W/", count: 2_000))\r\nConnection: close\r\n\r\n",
        "POST /thumbnail HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999\r\n\r\nxxx",
        "GET /thumbnail HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nxxxxx",
        "GET /thumbnail HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffffff\r\n",
        "GET /thumbnail HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    ])
    func `an invalid request is refused, and the next one is served`(text: String) async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            client.send(text)
            client.finish()
            let response = try await client.readToEnd()
            #expect(
                response.isEmpty || response.hasPrefix("HTTP/1.") && !response.contains(" 200 ")
                    || text.contains("/health"))
            #expect(try await server.get("/health").status == 200)
        }
    }

    @Test func `a target in absolute form is served`() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            client.send("GET http://a.test/health HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n")
            #expect(try await client.readToEnd().hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test func `a body is refused before it arrives`() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            client.send("PUT /thumbnail HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
            #expect(try await client.readToEnd().hasPrefix("HTTP/1.1 405 "))
        }
    }

    @Test func `pipelined requests are served one after another`() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            let target = server.target("/opaque.png")
            client.send(
                String(repeating: "GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n", count: 3)
                    + "GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let text = try await client.readToEnd()
            #expect(
                text.split(separator: "HTTP/1.1 200 OK").count == 5 || text.split(separator: "HTTP/1.1 200 ").count >= 4
            )
        }
    }

    @Test func `a silent client is disconnected after a time`() async throws {
        let running = try RunningServer(TestServer.settings, HTTPServer.Settings(clientTimeout: .seconds(1)))
        let client = try RawClient(port: running.port)
        client.send("GET /health HT")
        let text = try await client.readToEnd()
        #expect(!text.contains(" 200 "))
        await running.stop(grace: .seconds(1))
    }
}
