import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import CCURL
import FoundationEssentials
import Testing

@testable import AlcedoCURL

/// RFC 9112 sections 2.2 and 6.3, RFC 9110 section 8.6: the end of a response and of its lines.
@Suite(.timeLimit(.minutes(10)))
struct FramingTests {
    private func response(
        _ fields: String, status: String = "200 OK", body: String = "hello", method: HTTPMethod = .get
    ) async throws -> (head: HTTPResponseHead, body: String) {
        let text = "HTTP/1.1 \(status)\r\n\(fields)\r\n\r\n\(body)"
        let origin = try LoopbackOrigin { _ in .raw(Data(text.utf8)) }
        defer { origin.stop() }
        let response = try await CURLTransport().send(
            HTTPRequest(method: method, url: origin.url(for: "/"), idleTimeout: .seconds(120)))
        let body = try await response.body.collect(limit: 100)
        return (response.head, String(decoding: body, as: UTF8.self))
    }

    /// libcurl 8.23 refuses responses that 8.14 and earlier versions repair. The versions between them were not tried.
    private func repaired(
        _ response: () async throws -> (head: HTTPResponseHead, body: String)
    ) async throws -> (head: HTTPResponseHead, body: String)? {
        do {
            return try await response()
        } catch let error as HTTPTransportError
            where error.code == .invalidResponse && curl_version_info(CURLVERSION_FIRST).pointee.version_num > 0x080eff
        {
            return nil
        }
    }

    @Test(arguments: [
        "5\r\nContent-Length: 3", "3\r\nContent-Length: 5", "3, 5", "3x", "-3", "+5", "", "5,", "5 5", "0x5",
        "9223372036854775808", "99999999999999999999", "5, 99999999999999999999",
    ])
    func `an invalid length is an error`(length: String) async {
        let error = await #expect(throws: HTTPTransportError.self) {
            try await response("Content-Length: \(length)")
        }
        #expect(error?.code == .invalidResponse)
    }

    @Test(arguments: ["5", "5, 5", "5,5 ,5", "5\r\nContent-Length: 5", "5, 5\r\ncontent-length:5"])
    func `equal repeated lengths count once`(length: String) async throws {
        guard let (head, body) = try await repaired({ try await response("Content-Length: \(length)") }) else { return }

        #expect(body == "hello")
        #expect(head.fields.values(of: "Content-Length") == ["5"])
    }

    @Test(arguments: [
        "Content-Length: 3\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 9",
        "Content-Length: 3, 4\r\nTransfer-Encoding: chunked",
    ])
    func `a length beside a transfer coding is removed`(fields: String) async throws {
        let answer = try await repaired { try await response(fields, body: "5\r\nhello\r\n0\r\n\r\n") }
        guard let (head, body) = answer else { return }

        #expect(body == "hello")
        #expect(!head.fields.contains { $0.name == "Content-Length" })
    }

    @Test func `a length is ignored where there is no body`() async throws {
        let head = try await repaired { try await response("Content-Length: 3, 5", body: "", method: .head) }
        let unchanged = try await repaired {
            try await response("Content-Length: 3, 5", status: "304 Not Modified", body: "")
        }

        #expect(head == nil || head?.head.status == 200)
        #expect(unchanged == nil || unchanged?.head.status == 304)
    }

    /// libcurl passes some of these bodies on unchanged, and all empty ones.
    @Test(
        arguments: [
            "x-unheard-of", "none", "br", "compress", "chunked;a=b", "x-foo, chunked", "chunked, x-foo",
            "chunked\r\nTransfer-Encoding: x-foo", "\"chunked\"",
        ], ["5\r\nhello\r\n0\r\n\r\n", "0\r\n\r\n", ""])
    func `an unknown transfer coding is an error`(coding: String, body: String) async {
        let error = await #expect(throws: HTTPTransportError.self) {
            try await response("Transfer-Encoding: \(coding)", body: body)
        }
        #expect(error?.code == .invalidResponse)
    }

    @Test(arguments: ["Chunked", "identity, chunked", ", chunked ,", "CHUNKED\r\nX: y"])
    func `a known transfer coding is decoded`(coding: String) async throws {
        let body = { try await response("Transfer-Encoding: \(coding)", body: "5\r\nhello\r\n0\r\n\r\n").body }

        if coding.contains(","), !CURLTransfer.undoesListsOfCodings {
            let error = await #expect(throws: HTTPTransportError.self) { try await body() }
            #expect(error?.code == .invalidResponse)
        } else {
            #expect(try await body() == "hello")
        }
    }

    @Test func `a carriage return within a line becomes a space`() async throws {
        let answer = try await repaired {
            try await response(
                "Cache-Control: max-age=100\r, no-store\r\nX: a\rY: b\r\n: odd\rZ: c\r\r\nContent-Length: 5")
        }
        guard let (head, body) = answer else { return }

        #expect(body == "hello")
        #expect(head.fields["Cache-Control"] == "max-age=100 , no-store")
        #expect(head.fields["X"] == "a Y: b")
        #expect(head.fields["Y"] == nil)
        #expect(head.fields["Z"] == nil)
    }

    @Test func `a line that begins with a carriage return is an error`() async {
        let error = await #expect(throws: HTTPTransportError.self) {
            try await response("X: a\r\n\rCache-Control: no-store\r\nContent-Length: 5")
        }
        #expect(error?.code == .invalidResponse)
    }
}
