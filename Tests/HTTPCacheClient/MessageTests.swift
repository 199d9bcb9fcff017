import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Calls reach the server unchanged, and responses reach the caller unchanged.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct MessageTests {
    private static let high = String(String.UnicodeScalarView((0x80...0xFF).map { Unicode.Scalar(UInt8($0)) }))

    @Test func `fields and bytes pass unchanged in both directions`() async throws {
        let bytes = Data(0...255)
        let origin = try LoopbackOrigin { _ in
            OriginReply(
                fields: HTTPFields([
                    HTTPFields.Field("X-A", "caf\u{E9}\(Self.high)"), HTTPFields.Field("x-b", "1"),
                    HTTPFields.Field("X-B", "2"),
                ]), body: bytes)
        }
        defer { origin.stop() }
        var call = CallLine(1, origin.url(for: "/a?b=c"))
        call.headers = [
            ["Req-Num", "1"], ["X-A", "caf\u{E9}\(Self.high)"], ["X-B", "1"], ["x-b", "2"], ["X-C", ""],
        ]

        let response = try await Conversation().response(to: call)

        #expect(response.status == 200)
        #expect(response.values("X-A") == ["caf\u{E9}\(Self.high)"])
        #expect(response.values("X-B") == ["1", "2"])
        #expect(response.body_base64 == bytes)
        let seen = try #require(origin.requests.first)
        #expect(seen.target == "/a?b=c")
        let own = seen.fields.filter { $0.name == "Req-Num" || $0.name.lowercased().hasPrefix("x-") }
        #expect(own.map { [$0.name, $0.value] } == call.headers)
        for name in ["Cache-Control", "Pragma", "If-None-Match", "If-Modified-Since", "Accept-Encoding"] {
            #expect(seen.fields[name] == nil)
        }
    }

    @Test(arguments: ["M-SEARCH", "PUT", "POST", "DELETE"]) func `methods and bodies are sent`(method: String)
        async throws
    {
        let origin = try LoopbackOrigin { _ in .status(201) }
        defer { origin.stop() }
        var call = CallLine(1, origin.url(for: "/"))
        call.method = method
        call.body = "caf\u{E9} \u{20AC}"

        let response = try await Conversation().response(to: call)

        #expect(response.status == 201)
        #expect(origin.requests.first?.method.rawValue == method)
        #expect(origin.requests.first.map { String(decoding: $0.body, as: UTF8.self) } == call.body)
    }

    @Test func `large bodies pass in both directions`() async throws {
        let text = String(repeating: "0123456789abcdef", count: 1 << 16)
        let origin = try LoopbackOrigin { OriginReply(body: $0.body) }
        defer { origin.stop() }
        let client = try Conversation()

        for number in 1...3 {
            var call = CallLine(number, origin.url(for: "/"))
            call.method = "POST"
            call.body = text
            #expect(try await client.response(to: call).text == text)
        }
    }

    @Test func `a HEAD has fields and no body`() async throws {
        let origin = try LoopbackOrigin { _ in .text("text") }
        defer { origin.stop() }
        var call = CallLine(1, origin.url(for: "/"))
        call.method = "HEAD"

        let response = try await Conversation().response(to: call)

        #expect(response.values("Content-Length") == ["4"])
        #expect(response.body_base64 == Data())
    }

    @Test(arguments: [204, 404, 500, 999]) func `any status is returned`(status: Int) async throws {
        let origin = try LoopbackOrigin { _ in .status(status) }
        defer { origin.stop() }
        #expect(try await Conversation().response(to: CallLine(1, origin.url(for: "/"))).status == status)
    }

    @Test func `informational responses are reported`() async throws {
        let origin = try LoopbackOrigin { _ in
            .raw(
                Data(
                    """
                    HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\nLink: caf\u{E9}\r\n\r\n\
                    HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok
                    """.utf8))
        }
        defer { origin.stop() }

        let response = try await Conversation().response(to: CallLine(1, origin.url(for: "/")))

        #expect(response.text == "ok")
        #expect(response.interim?.map(\.status) == [102, 103])
        #expect(response.interim?.map(\.headers) == [[], [["link", "</a>"], ["Link", "caf\u{C3}\u{A9}"]]])
    }

    @Test(arguments: ["gzip", "x-unheard-of"]) func `encoded bodies stay encoded`(coding: String) async throws {
        let origin = try LoopbackOrigin { _ in
            OriginReply(fields: ["Content-Encoding": coding], body: Data("not packed at all".utf8))
        }
        defer { origin.stop() }

        let response = try await Conversation().response(to: CallLine(1, origin.url(for: "/")))

        #expect(response.values("Content-Encoding") == [coding])
        #expect(response.text == "not packed at all")
    }

    @Test(arguments: [
        OriginReply.text("whole").cutting(at: .afterBody(2)), OriginReply.text("whole").framed(.declaredLength(100)),
        OriginReply.text("whole").cutting(at: .beforeHead),
        OriginReply.text("x").framed(.chunked(size: 1, badAfter: 0)),
        OriginReply.raw(Data("no HTTP at all".utf8)),
    ])
    func `an incomplete response is an error`(reply: OriginReply) async throws {
        let origin = try LoopbackOrigin { _ in reply }
        defer { origin.stop() }

        let response = try await Conversation().response(to: CallLine(1, origin.url(for: "/")))

        #expect(response.status == nil)
        #expect(response.error?.isEmpty == false)
    }
}
