import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// The memory of a transfer. Each test runs in its own process, so that other memory does not count.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct MemoryTests {
    @Test func `memory stays flat for a gigabyte and for a reader that stops`() async {
        await #expect(processExitsWith: .success) {
            let origin = try LoopbackOrigin { $0.path == "/big" ? .endless() : .text("x") }
            let transport = CURLTransport()
            let response = try await transport.send(
                HTTPRequest(url: origin.url(for: "/big"), idleTimeout: .seconds(120)))
            var iterator = response.body.makeAsyncIterator()
            var count = 0
            while count < 16 << 20 { count += try await iterator.next()?.count ?? 0 }
            let before = ResidentMemory.byteCount
            // While the body is not read, transport and server have much time.
            for _ in 0..<200 {
                let other = try await transport.send(
                    HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
                _ = try await other.body.collect(limit: 10)
            }
            let stopped = ResidentMemory.byteCount - before
            while count < 1 << 30 { count += try await iterator.next()?.count ?? 0 }
            let passed = ResidentMemory.byteCount - before
            #expect(stopped < 8 << 20)
            #expect(passed < 8 << 20)
        }
    }

    @Test(.enabled(if: SecureServer.isInstalled, "nginx and openssl are not installed"))
    func `with HTTP2 a slow reader costs at most the window of its stream`() async {
        await #expect(processExitsWith: .success) {
            let server = try await SecureServer()
            let transport = CURLTransport(options: server.options)
            let response = try await transport.send(
                HTTPRequest(url: server.url("/huge"), idleTimeout: .seconds(120)))
            let before = ResidentMemory.byteCount
            for _ in 0..<200 {
                let other = try await transport.send(
                    HTTPRequest(url: server.url("/small"), idleTimeout: .seconds(120)))
                _ = try await other.body.collect(limit: 1 << 20)
            }
            var count = 0
            for try await piece in response.body { count += piece.count }
            // The window has 32 MiB, and its buffer grows by doubling.
            #expect(ResidentMemory.byteCount - before < 96 << 20)
            #expect(count == 512 << 20)
        }
    }
}
