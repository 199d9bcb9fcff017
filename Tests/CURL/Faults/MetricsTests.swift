import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(10)))
struct MetricsTests {
    @Test func `a response reports its metrics after its end`() async throws {
        let body = Data(repeating: 1, count: 10_000)
        let origin = try LoopbackOrigin { _ in OriginReply(body: body).stalling(at: .afterBody(5_000)) }
        defer { origin.stop() }
        let transport = CURLTransport()
        let request = HTTPRequest(
            method: .post, url: origin.url(for: "/"), body: Data(repeating: 2, count: 500), idleTimeout: .seconds(120))

        let response = try await transport.send(request)
        #expect(response.metrics == nil)
        origin.release()
        _ = try await response.body.collect(limit: 1 << 20)

        let metrics = try #require(response.metrics)
        #expect(metrics.isReusedConnection == false)
        #expect(metrics.protocolName == "http/1.1")
        #expect(metrics.connect != nil)
        #expect(metrics.secureConnect == nil)
        #expect(try #require(metrics.firstByte) <= (try #require(metrics.total)))
        #expect(try #require(metrics.queued) >= .zero)
        let received = try #require(metrics.bytesReceived)
        #expect((10_040...10_100).contains(received))
        #expect(metrics.bytesSent == 500)
    }

    @Test func `a chunked response reports its bytes, too`() async throws {
        let reply = OriginReply(body: Data(repeating: 1, count: 10_000), framing: .chunked(size: 1000))
        let origin = try LoopbackOrigin { _ in reply }
        defer { origin.stop() }
        let response = try await CURLTransport().send(
            HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
        _ = try await response.body.collect(limit: 1 << 20)
        let received = try #require(response.metrics?.bytesReceived)
        #expect((10_040...10_100).contains(received))
    }

    @Test func `a failed or canceled transfer reports its metrics as well`() async throws {
        let reply = OriginReply(body: Data(repeating: 1, count: 10_000))
        let origin = try LoopbackOrigin {
            $0.path == "/cut" ? reply.cutting(at: .afterBody(5_000)) : reply.stalling(at: .afterBody(5_000))
        }
        defer { origin.stop() }
        let cut = try await CURLTransport().send(HTTPRequest(url: origin.url(for: "/cut"), idleTimeout: .seconds(120)))
        await #expect(throws: HTTPTransportError.self) { try await cut.body.collect(limit: 1 << 20) }
        #expect(try #require(cut.metrics?.bytesReceived) > 5_000)

        let cancelled = try await CURLTransport().send(
            HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
        cancelled.body.cancel()
        try await origin.waitForDisconnects(count: 1)
        #expect(cancelled.metrics != nil)
    }
}
