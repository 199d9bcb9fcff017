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

    private func body(_ bytes: Data, coding: String) async throws -> Data {
        let reply = OriginReply(fields: ["Content-Encoding": coding], body: bytes)
        let origin = try LoopbackOrigin { _ in reply }
        defer { origin.stop() }
        let request = HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120))
        return try await CURLTransport().send(request).body.collect(limit: 1 << 20)
    }

    @Test(arguments: [
        "aws-chunked", "UTF-8", "binary", "image/png", "identity", "none", "", ",", "x-unheard-of, utf-8",
    ])
    func `bytes with an unknown coding are used as they are`(coding: String) async throws {
        #expect(try await body(GzipSample.encoded, coding: coding) == GzipSample.encoded)
    }

    @Test(arguments: ["gzip, aws-chunked", "aws-chunked, gzip", "GZIP", "x-gzip", "gzip,", "gzip ,utf-8"])
    func `a known coding is decoded, also next to an unknown one`(coding: String) async throws {
        #expect(try await body(GzipSample.encoded, coding: coding) == GzipSample.decoded)
    }

    @Test(arguments: [
        Data([0]), Data("<!-- served in 3 ms -->".utf8), Data(repeating: 0, count: 100_000), Data([0x1F, 0x8B, 1]),
    ])
    func `bytes behind the end of a gzip stream are ignored`(trailer: Data) async throws {
        #expect(try await body(GzipSample.encoded + trailer, coding: "gzip") == GzipSample.decoded)
    }

    @Test func `all members of a gzip stream are decoded`() async throws {
        let expected = GzipSample.decoded + GzipSample.decoded
        #expect(try await body(GzipSample.encoded + GzipSample.encoded, coding: "gzip") == expected)
    }

    @Test(arguments: [
        Data([203, 72, 205, 201, 201, 87, 200, 0, 145, 0]),
        Data([120, 156, 203, 72, 205, 201, 201, 87, 200, 0, 145, 0, 25, 145, 4, 73]),
    ])
    func `deflate is decoded with and without the zlib format`(encoded: Data) async throws {
        #expect(try await body(encoded, coding: "deflate") == Data("hello hello".utf8))
    }

    @Test func `br is decoded`() async throws {
        // One uncompressed block, and the empty last one: RFC 7932 section 9.2.
        let encoded = Data([0x50, 0x00, 0x10]) + Data("hello!".utf8) + Data([0x03])
        #expect(try await body(encoded, coding: "br") == Data("hello!".utf8))
        #expect(try await body(encoded + Data("trailer".utf8), coding: "br") == Data("hello!".utf8))
    }

    @Test func `codings are removed in the reverse order of their application`() async throws {
        // "hello" as zstd with one raw block.
        let zstd = Data([0x28, 0xB5, 0x2F, 0xFD, 0x20, 5, 0x29, 0, 0]) + Data("hello".utf8)
        #expect(try await body(zstd, coding: "zstd") == Data("hello".utf8))
        // The same inside of a stored block of deflate (RFC 1951 section 3.2.4).
        let stored = Data([1, UInt8(zstd.count), 0, ~UInt8(zstd.count), 0xFF]) + zstd
        #expect(try await body(stored, coding: "zstd, deflate") == Data("hello".utf8))
        #expect(try await body(stored, coding: "deflate") == zstd)
    }

    @Test(arguments: [
        (Data("not gzip".utf8), "gzip"), (GzipSample.encoded.dropLast(8) + Data(count: 8), "gzip"),
        (Data("not zstd".utf8), "zstd"), (Data(repeating: 0xFF, count: 64), "br"),
        (GzipSample.encoded, "gzip, gzip, gzip, gzip, gzip"),
    ])
    func `a damaged encoded body is an invalid response`(bytes: Data, coding: String) async throws {
        let error = await #expect(throws: HTTPTransportError.self) { try await body(bytes, coding: coding) }
        #expect(error?.code == .invalidResponse)
    }

    @Test(arguments: [OriginReply.Framing.contentLength, .chunked(size: 977), .close])
    func `a slow reader receives every decoded byte once`(framing: OriginReply.Framing) async throws {
        // Stored blocks of deflate, whose decoded bytes differ from each other.
        var expected = Data()
        var encoded = Data()
        for block in 0..<400 {
            let bytes = Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ block &* 7 &+ $0 / 256) })
            let count = UInt16(bytes.count)
            let (low, high) = (UInt8(count & 255), UInt8(count >> 8))
            encoded += Data([block == 399 ? 1 : 0, low, high, ~low, ~high]) + bytes
            expected += bytes
        }
        let reply = OriginReply(fields: ["Content-Encoding": "deflate"], body: encoded, framing: framing)
        let origin = try LoopbackOrigin { $0.path == "/" ? reply : .text("x") }
        defer { origin.stop() }
        let transport = CURLTransport()
        let response = try await transport.send(HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))

        var received = Data()
        for try await piece in response.body {
            received += piece
            // Meanwhile, the loop fills the pipe and pauses the transfer.
            let other = HTTPRequest(url: origin.url(for: "/other"), idleTimeout: .seconds(120))
            _ = try await transport.send(other).body.collect(limit: 10)
        }

        #expect(received == expected)
    }

    @Test func `requests with and without decoding alternate on one transport`() async throws {
        let transport = CURLTransport()
        for _ in 0..<4 {
            #expect(try await exchange(transport).body == GzipSample.decoded)
            #expect(try await exchange(transport, fields: ["Range": "bytes=0-"]).body == GzipSample.encoded)
        }
    }
}
