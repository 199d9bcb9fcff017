import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FailedExchangeTests {
    @Test func `an exchange that fails before its response head reports its metrics`() async throws {
        let origin = try LoopbackOrigin { _ in .text("never").cutting(at: .beforeHead) }
        defer { origin.stop() }
        let url = origin.url(for: "/a")

        let error = await #expect(throws: HTTPTransportError.self) {
            try await CURLTransport().send(
                HTTPRequest(method: .post, url: url, body: Data("x".utf8), idleTimeout: .seconds(120)))
        }

        #expect(error?.code == .connectionLost)
        let metrics = try #require(error?.metrics)
        #expect(metrics.connect != nil)
        #expect(metrics.isReusedConnection == false)
        #expect(metrics.bytesReceived == 0)
        // The metrics are not part of the error's description.
        #expect(error.map { HTTPTransportError($0.code, $0.message) } == error)
    }
}
