import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ProxyTests {
    private func failure(_ url: String, proxy: URL) async throws -> HTTPTransportError {
        var options = CURLOptions()
        options.proxy = .url(proxy)
        let request = HTTPRequest(url: try #require(URL(string: url)), idleTimeout: .seconds(120))
        return try #require(
            await #expect(throws: HTTPTransportError.self) { try await CURLTransport(options: options).send(request) })
    }

    @Test(arguments: ["http://h.example/", "https://h.example/"])
    func `a proxy that does not listen is named as such`(url: String) async throws {
        let port = try ClosedPort()
        let error = try await failure(url, proxy: port.url)
        #expect(error.code == .cannotConnectToProxy)
        #expect(error.message.contains("proxy"))
        #expect(error.message.contains("h.example"))
    }

    @Test func `a proxy without an address is named as such`() async throws {
        let proxy = try #require(URL(string: "http://nobody.invalid:3128"))
        let error = try await failure("http://h.example/", proxy: proxy)
        #expect(error.code == .cannotConnectToProxy)
    }

    @Test func `a proxy that requires a user refuses a tunnel with its status`() async throws {
        let proxy = try LoopbackOrigin { _ in .status(407, fields: ["Proxy-Authenticate": "Basic realm=\"p\""]) }
        defer { proxy.stop() }
        let error = try await failure("https://h.example/", proxy: proxy.url)
        #expect(error.code == .proxyRefused)
        #expect(error.message.contains("407"))
        #expect(error.message.contains("h.example"))
    }

    @Test func `a proxy receives the URL of a request without TLS`() async throws {
        let proxy = try LoopbackOrigin { _ in .text("hello") }
        defer { proxy.stop() }
        var options = CURLOptions()
        options.proxy = .url(proxy.url)
        let request = HTTPRequest(url: try #require(URL(string: "http://h.example/a?b")), idleTimeout: .seconds(120))
        _ = try await CURLTransport(options: options).send(request).body.collect(limit: 10)
        #expect(proxy.requests.map(\.target) == ["http://h.example/a?b"])
    }
}
