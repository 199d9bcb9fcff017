import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(10)))
struct InterimTests {
    private func response(to bytes: String) async throws -> (response: HTTPResponse, body: String) {
        let origin = try LoopbackOrigin { _ in .raw(Data(bytes.utf8)) }
        defer { origin.stop() }
        let response = try await CURLTransport().send(
            HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
        return (response, String(decoding: try await response.body.collect(limit: 1000), as: UTF8.self))
    }

    private static let final = "HTTP/1.1 200 OK\r\nX-Final: yes\r\nContent-Length: 2\r\n\r\nok"

    @Test func `informational responses are delivered in order, apart from the final one`() async throws {
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLink: </b>\r\n\r\n"
        let processing = "HTTP/1.1 102 Processing\r\nX-One: 1\r\n\r\n"

        let (response, body) = try await response(to: processing + hints + Self.final)

        #expect(response.head.status == 200)
        #expect(response.head.fields.map(\.name) == ["X-Final", "Content-Length"])
        #expect(body == "ok")
        #expect(response.interim.map(\.status) == [102, 103])
        #expect(response.interim.first?.fields == ["X-One": "1"])
        #expect(response.interim.last?.fields.values(of: "link") == ["</a>", "</b>"])
        #expect(response.interim.last?.url == response.head.url)
    }

    @Test func `a response without informational responses reports none`() async throws {
        #expect(try await response(to: Self.final).response.interim.isEmpty)
    }

    @Test func `many informational responses are truncated without an error`() async throws {
        let flood = (0..<500).map { "HTTP/1.1 103 Early Hints\r\nX-Number: \($0)\r\n\r\n" }.joined()

        let (response, body) = try await response(to: flood + Self.final)

        #expect(response.interim.map { $0.fields["X-Number"] } == (0..<16).map { "\($0)" })
        #expect(body == "ok")
    }

    @Test func `endless informational responses are an error`() async throws {
        let one = "HTTP/1.1 103 Early Hints\r\nX-Long: \(String(repeating: "x", count: 1000))\r\n\r\n"
        let error = await #expect(throws: HTTPTransportError.self) {
            try await response(to: String(repeating: one, count: 400) + Self.final)
        }
        #expect(error?.code == .invalidResponse)
    }

    @Test func `trailers are not fields of the response`() async throws {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Trailer: late\r\n\r\n"

        let (response, body) = try await response(to: chunked)

        #expect(body == "ok")
        #expect(response.head.fields["X-Trailer"] == nil)
        #expect(response.interim.isEmpty)
    }

    @Test func `endless trailers are an error`() async throws {
        let trailer = "X-Trailer: \(String(repeating: "x", count: 1000))\r\n"
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
        let error = await #expect(throws: HTTPTransportError.self) {
            try await response(to: chunked + String(repeating: trailer, count: 400) + "\r\n")
        }
        #expect(error?.code == .invalidResponse)
    }
}
