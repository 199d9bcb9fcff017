import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ContentCodingTests {
    /// Returns the body for a caller, and the codings requested from the server.
    private func exchange(
        _ transport: CURLTransport, coding: String = "gzip", fields: HTTPFields = HTTPFields()
    ) async throws -> (body: Data, requestedCodings: String?) {
        let reply = OriginReply(fields: ["Content-Encoding": coding], body: GzipSample.encoded)
        let origin = try LoopbackOrigin { _ in reply }
        defer { origin.stop() }
        let response = try await transport.send(
            HTTPRequest(url: origin.url(for: "/"), fields: fields, idleTimeout: .seconds(120)))
        #expect(response.head.fields["Content-Encoding"] == coding)
        let body = try await response.body.collect(limit: 100)
        return (body, try #require(origin.requests.first).fields["Accept-Encoding"])
    }

    @Test func `a coding is requested, and the body arrives decoded`() async throws {
        let (body, requestedCodings) = try await exchange(CURLTransport())
        #expect(body == GzipSample.decoded)
        #expect(requestedCodings?.contains("gzip") == true)
    }

    @Test func `a request with its own codings receives the encoded body`() async throws {
        let (body, requestedCodings) = try await exchange(CURLTransport(), fields: ["accept-encoding": "gzip;q=0.5"])
        #expect(body == GzipSample.encoded)
        #expect(requestedCodings == "gzip;q=0.5")
    }

    @Test func `a range arrives as it was sent`() async throws {
        let (body, requestedCodings) = try await exchange(CURLTransport(), fields: ["Range": "bytes=0-29"])
        #expect(body == GzipSample.encoded)
        #expect(requestedCodings == nil)
    }

    @Test(arguments: ["gzip", "x-unheard-of", "gzip, x-unheard-of"])
    func `a transport that does not decode requests no coding and returns the encoded body`(coding: String) async throws
    {
        var options = CURLOptions()
        options.decodesContent = false
        let (body, requestedCodings) = try await exchange(CURLTransport(options: options), coding: coding)
        #expect(body == GzipSample.encoded)
        #expect(requestedCodings == nil)
    }

    @Test func `an unknown coding is an error when decoding is enabled`() async throws {
        let error = await #expect(throws: HTTPTransportError.self) {
            try await exchange(CURLTransport(), coding: "x-unheard-of")
        }
        #expect(error?.code == .invalidResponse)
    }

    @Test func `requests with and without decoding alternate on one transport`() async throws {
        let transport = CURLTransport()
        for _ in 0..<4 {
            #expect(try await exchange(transport).body == GzipSample.decoded)
            #expect(try await exchange(transport, fields: ["Range": "bytes=0-"]).body == GzipSample.encoded)
        }
    }
}
