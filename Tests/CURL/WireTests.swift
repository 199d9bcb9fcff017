import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Testing

/// The bytes sent in both directions.
@Suite(.timeLimit(.minutes(10)))
struct WireTests {
    /// The characters of all bytes above ASCII.
    private static let high = String(String.UnicodeScalarView((0x80...0xFF).map { Unicode.Scalar(UInt8($0)) }))

    /// Sends a request and returns it as the server received it.
    private func seen(
        _ method: HTTPMethod = .get, fields: HTTPFields = HTTPFields(), body: Data? = nil
    ) async throws -> OriginRequest {
        let origin = try LoopbackOrigin { _ in .text("x") }
        defer { origin.stop() }
        let response = try await CURLTransport().send(
            HTTPRequest(
                method: method, url: origin.url(for: "/"), fields: fields, body: body, idleTimeout: .seconds(120)))
        _ = try await response.body.collect(limit: 10)
        return try #require(origin.requests.first)
    }

    private func expectRejection(
        _ method: HTTPMethod = .get, fields: HTTPFields = HTTPFields(), body: Data? = nil,
        at location: SourceLocation = #_sourceLocation
    ) async {
        let error = await #expect(throws: HTTPTransportError.self, sourceLocation: location) {
            try await seen(method, fields: fields, body: body)
        }
        #expect(error?.code == .invalidRequest, sourceLocation: location)
    }

    @Test func `request field values are ISO-8859-1`() async throws {
        let value = "caf\u{E9} \(Self.high)"
        #expect(try await seen(fields: ["X-A": value]).fields["X-A"] == value)
    }

    @Test func `cookies are neither stored nor sent by default`() async throws {
        let origin = try LoopbackOrigin { _ in OriginReply(fields: ["Set-Cookie": "a=1; Path=/"]) }
        defer { origin.stop() }
        let transport = CURLTransport()
        for _ in 0..<2 {
            let response = try await transport.send(HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
            #expect(response.head.fields["Set-Cookie"] == "a=1; Path=/")
            _ = try await response.body.collect(limit: 10)
        }
        #expect(origin.requests.map { $0.fields["Cookie"] } == [nil, nil])
    }

    @Test func `response field values are ISO-8859-1`() async throws {
        let origin = try LoopbackOrigin { _ in OriginReply(fields: ["X-A": "caf\u{E9}\(Self.high)"]) }
        defer { origin.stop() }
        let response = try await CURLTransport().send(
            HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
        #expect(response.head.fields["X-A"] == "caf\u{E9}\(Self.high)")
    }

    @Test(arguments: ["\u{100}", "e\u{301}", "\u{20AC}", "a\u{0}b", "a\r\nX-B: c", "a\nb"])
    func `a value that is not ISO-8859-1 or has a line break is refused`(value: String) async throws {
        await expectRejection(fields: ["X-A": value])
    }

    @Test(arguments: ["", "X A", "X:", "X\u{E9}", "X\r\n", "X;", "(X)"])
    func `an invalid field name is refused`(name: String) async throws {
        await expectRejection(fields: HTTPFields([HTTPFields.Field(name, "a")]))
    }

    @Test func `repeated fields stay separate lines in order`() async throws {
        let fields = [("X-A", "1"), ("X-B", "2"), ("x-a", "3"), ("X-A", "1")].map { HTTPFields.Field($0.0, $0.1) }
        let received = try await seen(fields: HTTPFields(fields)).fields.fields
        #expect(received.filter { $0.name.lowercased().hasPrefix("x-") } == fields)
    }

    @Test(arguments: ["", " ", "\t "]) func `an empty value is sent`(value: String) async throws {
        let fields = try await seen(fields: ["X-A": value, "X-B": "b"]).fields
        #expect(fields["X-A"] == "")
        #expect(fields["X-B"] == "b")
    }

    @Test(arguments: ["M-SEARCH", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "get", "!#$%&'*+-.^_`|~"])
    func `any token is a valid method, with and without a body`(name: String) async throws {
        let method = HTTPMethod(rawValue: name)
        let with = try await seen(method, body: Data("body".utf8))
        #expect(with.method == method)
        #expect(with.body == Data("body".utf8))
        #expect(with.fields["Content-Type"] == nil)

        let without = try await seen(method)
        #expect(without.method == method)
        #expect(without.body.isEmpty)
        #expect(without.fields["Content-Length"] == (["PUT", "POST", "PATCH"].contains(name) ? "0" : nil))
    }

    @Test func `an empty body and its type are sent`() async throws {
        let seen = try await seen(.post, fields: ["Content-Type": "text/plain"], body: Data())
        #expect(seen.fields["Content-Length"] == "0")
        #expect(seen.fields["Content-Type"] == "text/plain")
    }

    @Test(arguments: ["", "A B", "A:", "G\u{C9}T", "GET\r\n"]) func `an invalid method is refused`(name: String) async {
        await expectRejection(HTTPMethod(rawValue: name))
    }

    @Test func `a HEAD with a body is refused`() async {
        await expectRejection(.head, body: Data("body".utf8))
    }

    @Test(arguments: ["http:///127.0.0.1", "http:/127.0.0.1", "http:127.0.0.1", "http://"])
    func `a URL without a host is refused`(start: String) async throws {
        let origin = try LoopbackOrigin { _ in .text("x") }
        defer { origin.stop() }
        let url = try #require(URL(string: "\(start):\(origin.port)/") ?? URL(string: start))
        let error = await #expect(throws: HTTPTransportError.self) {
            try await CURLTransport().send(HTTPRequest(url: url, idleTimeout: .seconds(120)))
        }
        #expect(error?.code == .invalidRequest)
        #expect(origin.requests.isEmpty)
    }

    @Test(arguments: ["ftp://me:secret@127.0.0.1/", "http://me:secret@/"])
    func `an error does not contain a password`(text: String) async throws {
        let url = try #require(URL(string: text))
        let error = await #expect(throws: HTTPTransportError.self) {
            try await CURLTransport().send(HTTPRequest(url: url, idleTimeout: .seconds(120)))
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("secret") == false)
    }

    @Test func `response fields are parsed as the standard requires`() async throws {
        let head = """
            HTTP/1.1 200 OK\r\nX-A:1\r\nX-B : 2\r\nX-C:\t 3 \t\r\nX-D: a,\r\n  b: c\r\n\td\r\nX E: 5\r\n: 6\r\n(G): 7\r\n\
            X-H:\r\nContent-Length: 0\r\n\r\n
            """
        let origin = try LoopbackOrigin { _ in .raw(Data(head.utf8)) }
        defer { origin.stop() }
        let response = try await CURLTransport().send(
            HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
        #expect(
            response.head.fields == [
                "X-A": "1", "X-B": "2", "X-C": "3", "X-D": "a, b: c d", "X-H": "", "Content-Length": "0",
            ])
    }

    @Test(arguments: [200, 203, 299, 302, 418, 599, 600, 999]) func `any final status is returned`(
        status: Int
    ) async throws {
        let origin = try LoopbackOrigin { _ in OriginReply(status: status, body: Data("x".utf8)) }
        defer { origin.stop() }
        let response = try await CURLTransport().send(
            HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
        #expect(response.head.status == status)
        #expect(try await response.body.collect(limit: 10) == Data("x".utf8))
    }
}
