import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import TestSupport
import Testing

@Suite(
    .spawnsProcesses, .timeLimit(.minutes(10)),
    .enabled(if: SecureServer.isInstalled, "nginx and openssl are not installed"))
struct IdleSecureConnectionTests {
    @Test(arguments: [CURLVersion.http1, .http2], [HTTPMethod.get, .post])
    func `after idleness, the first request over TLS succeeds although all connections are dead`(
        version: CURLVersion, method: HTTPMethod
    ) async throws {
        let server = try await SecureServer()
        var options = server.options
        options.version = version
        options.maximumIdleTime = .seconds(3600)
        let transport = CURLTransport(options: options)
        let slow = HTTPRequest(url: try server.url("/slow", host: "also.localhost"), idleTimeout: .seconds(120))
        let responses = try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
            for _ in 0..<3 { group.addTask { try await transport.send(slow) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(responses.map { $0.head.fields["X-Connection"] }).count == 3)
        // All connections become idle at the same time, because libcurl closes dead ones whenever a transfer ends.
        try await withThrowingTaskGroup(of: Int.self) { group in
            for response in responses { group.addTask { try await response.body.collect(limit: 1 << 20).count } }
            for try await count in group { #expect(count == 65536) }
        }
        #expect(try await closedConnectionCount(to: #require(slow.url.port)) >= 2)

        var next = slow
        next.url = try server.url("/small", host: "also.localhost")
        next.method = method
        let response = try await transport.send(next)

        // nginx serves files for GET only.
        #expect(response.head.status == (method == .get ? 200 : 405))
        _ = try await response.body.collect(limit: 1 << 20)
        #expect(response.metrics?.isReusedConnection == false)
    }

    /// Returns when the server has closed all connections, with the number of those that the client still holds.
    /// Source: proc(5), `/proc/net/tcp`.
    private func closedConnectionCount(to port: Int) async throws -> Int {
        let suffix = ":" + String(port + 0x10000, radix: 16, uppercase: true).dropFirst()
        while true {
            let table = try String(contentsOf: URL(filePath: "/proc/self/net/tcp"), encoding: .utf8)
            let states = table.split(separator: "\n").compactMap { line -> Substring? in
                let words = line.split(separator: " ")
                return words.count > 3 && words[2].hasSuffix(suffix) ? words[3] : nil
            }
            // 01 is ESTABLISHED, and 08 is CLOSE_WAIT.
            if !states.contains("01") { return states.count { $0 == "08" } }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
