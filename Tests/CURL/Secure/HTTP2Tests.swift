import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import TestSupport
import Testing

@Suite(
    .spawnsProcesses, .timeLimit(.minutes(10)),
    .enabled(if: SecureServer.isInstalled, "nginx and openssl are not installed"))
struct HTTP2Tests {
    private func get(_ url: URL, _ transport: CURLTransport) async throws -> HTTPResponse {
        let response = try await transport.send(HTTPRequest(url: url, idleTimeout: .seconds(120)))
        _ = try await response.body.collect(limit: 1 << 20)
        return response
    }

    @Test func `HTTP2 is used where the server supports it and is reported in the metrics`() async throws {
        let server = try await SecureServer()
        let transport = CURLTransport(options: server.options)

        let first = try #require(try await get(server.url("/small"), transport).metrics)
        #expect(first.protocolName == "h2")
        #expect(first.isReusedConnection == false)
        let connect = try #require(first.connect)
        let secure = try #require(first.secureConnect)
        #expect(connect + secure <= (try #require(first.firstByte)))
        #expect(try #require(first.bytesReceived) > 4096)

        let second = try #require(try await get(server.url("/small"), transport).metrics)
        #expect(second.isReusedConnection == true)
        #expect(second.nameLookup == nil)
        #expect(second.connect == nil)
        #expect(second.secureConnect == nil)
    }

    @Test func `the HTTP version can be chosen`() async throws {
        let server = try await SecureServer()
        var options = server.options
        options.version = .http1
        #expect(
            try await get(server.url("/small"), CURLTransport(options: options)).metrics?.protocolName == "http/1.1")
        options.version = .http2
        let plain = try await get(server.plainURL("/small"), CURLTransport(options: options))
        #expect(plain.metrics?.protocolName == "h2")
        #expect(plain.metrics?.secureConnect == nil)
    }

    @Test func `concurrent requests share one connection`() async throws {
        let server = try await SecureServer()
        let transport = CURLTransport(options: server.options)
        let url = try server.url("/small")
        let connections = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<40 { group.addTask { try await get(url, transport).head.fields["X-Connection"] } }
            return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(connections.count == 1)
    }

    @Test func `without HTTP2 no request waits for a shared connection`() async throws {
        let server = try await SecureServer()
        let transport = CURLTransport(options: server.options)
        let slow = try server.oldURL("/slowest")
        let responses = try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
            for _ in 0..<8 {
                group.addTask { try await transport.send(HTTPRequest(url: slow, idleTimeout: .seconds(120))) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // All have begun before any has ended.
        #expect(responses.allSatisfy { $0.metrics == nil })
        #expect(Set(responses.map { $0.head.fields["X-Connection"] }).count == 8)
    }

    @Test func `responses out of order reach their requests`() async throws {
        let server = try await SecureServer()
        let transport = CURLTransport(options: server.options)
        let (slow, small) = (try server.url("/slowest"), try server.url("/small"))
        let first = try await transport.send(HTTPRequest(url: slow, idleTimeout: .seconds(120)))

        for _ in 0..<10 {
            let response = try await get(small, transport)
            #expect(response.head.fields["X-Connection"] == first.head.fields["X-Connection"])
        }
        // The slow one has not ended, though it was requested first.
        #expect(first.metrics == nil)
        first.body.cancel()
    }

    @Test func `a slow reader delays no other stream of its connection`() async throws {
        let server = try await SecureServer()
        let transport = CURLTransport(options: server.options)
        let (big, small) = (try server.url("/big"), try server.url("/small"))
        let lagging = try await transport.send(HTTPRequest(url: big, idleTimeout: .seconds(120)))

        for _ in 0..<50 { _ = try await get(small, transport) }

        #expect(try await lagging.body.collect(limit: 64 << 20).count == 64 << 20)
    }

    @Test func `canceling a stream keeps the others`() async throws {
        let server = try await SecureServer()
        let transport = CURLTransport(options: server.options)
        let (slow, small) = (try server.url("/slow"), try server.url("/small"))
        let open = try await transport.send(HTTPRequest(url: slow, idleTimeout: .seconds(120)))
        for _ in 0..<10 {
            let response = try await transport.send(HTTPRequest(url: slow, idleTimeout: .seconds(120)))
            response.body.cancel()
            let other = try await get(small, transport)
            #expect(other.head.fields["X-Connection"] == open.head.fields["X-Connection"])
        }
        #expect(try await open.body.collect(limit: 1 << 20).count == 65536)
    }

    @Test func `after a silent connection the retry opens another`() async throws {
        let server = try await SecureServer()
        let url = try server.url("/small")
        let relay = try FailingRelay(to: #require(url.port))
        let relayed = try #require(URL(string: "https://localhost:\(relay.port)/small"))
        let transport = CURLTransport(options: server.options)
        let first = try await get(relayed, transport)
        relay.silence()

        let silent = await #expect(throws: HTTPTransportError.self) {
            _ = try await transport.send(HTTPRequest(url: relayed, idleTimeout: .milliseconds(500)))
        }
        #expect(silent?.code == .timedOut)
        let second = try await get(relayed, transport)

        #expect(first.metrics?.protocolName == "h2")
        #expect(second.metrics?.isReusedConnection == false)
    }
}
