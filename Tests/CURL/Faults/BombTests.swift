import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Bodies with a high compression ratio.
@Suite(.timeLimit(.minutes(10)))
struct BombTests {
    /// Zstandard (RFC 8878) with "128 KiB of the same byte" `count` times: 32,000 bytes for each byte sent.
    private static func bomb(_ count: Int) -> Data {
        let head: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58]
        let blocks = (1...count).flatMap { [$0 == count ? 3 : 2, 0, 0x10, 0x61] as [UInt8] }
        return Data(head + blocks)
    }

    private func send(
        _ body: Data, limit: Int, framing: OriginReply.Framing = .contentLength
    ) async throws -> (origin: LoopbackOrigin, response: HTTPResponse) {
        var options = CURLOptions()
        options.maximumDecodedByteCount = limit
        let reply = OriginReply(fields: ["Content-Encoding": "zstd"], body: body, framing: framing)
        let origin = try LoopbackOrigin { _ in reply }
        let response = try await CURLTransport(options: options).send(
            HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
        return (origin, response)
    }

    @Test func `a body within the limit arrives, and its metrics count the encoded bytes`() async throws {
        let (origin, response) = try await send(Self.bomb(8), limit: 1 << 20)
        defer { origin.stop() }
        #expect(try await response.body.collect(limit: 2 << 20) == Data(repeating: 0x61, count: 1 << 20))
        #expect(try #require(response.metrics?.bytesReceived) < 1000)
    }

    @Test(arguments: [OriginReply.Framing.contentLength, .chunked(size: 100), .close])
    func `a body that decodes to more than the limit is too large`(framing: OriginReply.Framing) async throws {
        let (origin, response) = try await send(Self.bomb(8), limit: (1 << 20) - 1, framing: framing)
        defer { origin.stop() }
        let error = await #expect(throws: HTTPTransportError.self) {
            try await response.body.collect(limit: 2 << 20)
        }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test func `a slow reader receives the limit error on its next read`() async throws {
        var options = CURLOptions()
        options.maximumDecodedByteCount = 1 << 20
        // 32 MB without their end.
        let reply = OriginReply(fields: ["Content-Encoding": "zstd"], body: Self.bomb(256))
            .stalling(at: .afterBody(1000))
        let origin = try LoopbackOrigin { $0.path == "/bomb" ? reply : .text("x") }
        defer { origin.stop() }
        let transport = CURLTransport(options: options)
        let response = try await transport.send(
            HTTPRequest(url: origin.url(for: "/bomb"), idleTimeout: .seconds(3600)))
        try await origin.waitForStalls()
        for _ in 0..<50 {
            let other = try await transport.send(HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
            _ = try await other.body.collect(limit: 10)
        }

        let error = await #expect(throws: HTTPTransportError.self) { for try await _ in response.body {} }
        #expect(error?.code == .bodyTooLarge)
        try await origin.waitForDisconnects()
    }

    @Test func `a body without a coding is not limited`() async throws {
        var options = CURLOptions()
        options.maximumDecodedByteCount = 10
        let origin = try LoopbackOrigin { _ in .text("more than ten bytes") }
        defer { origin.stop() }
        let response = try await CURLTransport(options: options).send(
            HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
        #expect(try await response.body.collect(limit: 100).count == 19)
    }

    @Test(.spawnsProcesses)
    func `an unread compression bomb takes no more memory than another unread body`() async {
        await #expect(processExitsWith: .success) {
            let before = ResidentMemory.byteCount
            let (origin, response) = try await BombTests().send(Self.bomb(8192), limit: 128 << 20)
            // The transport has paused when it has served this request.
            let other = HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120))
            _ = try await CURLTransport().send(other)
            #expect(ResidentMemory.byteCount - before < 16 << 20)
            let error = await #expect(throws: HTTPTransportError.self) { for try await _ in response.body {} }
            #expect(error?.code == .bodyTooLarge)
        }
    }
}
