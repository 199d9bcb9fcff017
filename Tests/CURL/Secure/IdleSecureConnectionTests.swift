import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import TestSupport
import Testing

/// Pools of secure connections that die while they are idle. A relay counts the connections of a transport.
@Suite(
    .spawnsProcesses, .timeLimit(.minutes(10)),
    .enabled(if: SecureServer.isInstalled, "nginx and openssl are not installed"))
struct IdleSecureConnectionTests {
    private static let count = 3

    private let server: SecureServer
    private let relay: FailingRelay
    private let transport: CURLTransport

    init() async throws {
        server = try await SecureServer()
        relay = try FailingRelay(to: #require(server.oldURL("/").port))
        var options = server.options
        options.maximumIdleTime = .seconds(3600)
        transport = CURLTransport(options: options)
    }

    private func request(_ path: String, host: String, method: HTTPMethod = .get) throws -> HTTPRequest {
        let url = try #require(URL(string: "https://\(host):\(relay.port)\(path)"))
        return HTTPRequest(method: method, url: url, idleTimeout: .seconds(120))
    }

    /// Fills the pool. The connections become idle together, because libcurl looks for dead ones when a transfer ends.
    private func openConnections(to host: String) async throws {
        let slow = try request("/slow", host: host)
        let responses = try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
            for _ in 0..<Self.count { group.addTask { try await transport.send(slow) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(relay.count == Self.count)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for response in responses { group.addTask { try await response.body.collect(limit: 1 << 20).count } }
            for try await count in group { #expect(count == 65536) }
        }
        #expect(relay.count == Self.count)
    }

    @Test(arguments: [HTTPMethod.get, .post])
    func `after idleness, the first request succeeds although nginx has closed all connections`(
        method: HTTPMethod
    ) async throws {
        try await openConnections(to: "also.localhost")
        try await relay.waitForEnd()

        let response = try await transport.send(request("/small", host: "also.localhost", method: method))

        // nginx serves files for GET only.
        #expect(response.head.status == (method == .get ? 200 : 405))
        _ = try await response.body.collect(limit: 1 << 20)
        #expect(response.metrics?.isReusedConnection == false)
        #expect(relay.count == Self.count + 1)
    }

    @Test func `a request is sent again on a new connection if all connections break when they are used`()
        async throws
    {
        try await openConnections(to: "localhost")
        relay.breakConnections()

        let response = try await transport.send(request("/small", host: "localhost"))

        #expect(try await response.body.collect(limit: 1 << 20).count == 4096)
        #expect(response.metrics?.isReusedConnection == false)
        #expect(relay.count == Self.count + 1)
    }
}
