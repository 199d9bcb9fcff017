import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

/// RFC 9111 section 3.3: complete and incomplete bodies.
@Suite(.timeLimit(.minutes(10)))
struct BodyTests {
    private static let fresh: HTTPFields = ["Cache-Control": "max-age=60"]

    @Test(
        arguments: [
            (4, ["Content-Length": "5"]), (4, ["Content-Length": "3"]), (4, ["Content-Length": "x"]), (1_001, [:]),
            (1_001, ["Content-Length": "1001"]),
        ] as [(Int, HTTPFields)])
    func `an incomplete or too long body is passed on and not stored`(count: Int, length: HTTPFields) async throws {
        let bench = Bench()
        let body = String(repeating: "x", count: count)

        #expect(try await bench.load(HTTPFields(Self.fresh.fields + length.fields), body: body).body == body)

        #expect(await bench.stored() == nil)
    }

    @Test(
        arguments: [
            (0, [:]), (0, ["Content-Length": "0"]), (1_000, [:]), (1_000, ["Content-Length": "1000"]),
            // The length of the encoded body, which the transport has decoded.
            (10, ["Content-Length": "5", "Content-Encoding": "gzip"]),
        ] as [(Int, HTTPFields)])
    func `a body of the declared length is stored, up to the limit`(count: Int, length: HTTPFields) async throws {
        let bench = Bench()
        let body = String(repeating: "x", count: count)
        try await bench.load(HTTPFields(Self.fresh.fields + length.fields), body: body)

        let received = try await bench.send()

        #expect(received.isHit)
        #expect(received.body == body)
    }

    @Test func `a truncated body is an error and is not stored`() async throws {
        let bench = Bench()
        let source = PiecewiseBody(["one", "two"], error: HTTPTransportError(.connectionLost, "cut"))
        bench.server.respond {
            HTTPResponse(head: .init(url: $0.url, status: 200, fields: Self.fresh), body: .init(source))
        }
        let response = try await bench.cache.send(HTTPRequest(url: Bench.url))
        var pieces: [Data] = []

        let error = await #expect(throws: HTTPTransportError.self) {
            for try await piece in response.body { pieces.append(piece) }
        }

        #expect(error?.code == .connectionLost)
        #expect(pieces == ["one".data, "two".data])
        // Reading on does not change this.
        #expect(try await response.body.collect(limit: 100).isEmpty)
        #expect(await bench.stored() == nil)
    }

    @Test func `a body is passed on before it is complete, and releasing it cancels the transfer`() async throws {
        let bench = Bench()
        let source = PiecewiseBody(["one", "two"])
        bench.server.respond {
            HTTPResponse(head: .init(url: $0.url, status: 200, fields: Self.fresh), body: .init(source))
        }

        do {
            let response = try await bench.cache.send(HTTPRequest(url: Bench.url))
            var iterator = response.body.makeAsyncIterator()
            #expect(try await iterator.next() == "one".data)
            #expect(!source.isCancelled)
        }

        #expect(source.isCancelled)
        #expect(await bench.stored() == nil)
    }

    @Test func `a canceled body is not stored, even when reading continues`() async throws {
        let bench = Bench()
        bench.server.respond {
            HTTPResponse(
                head: .init(url: $0.url, status: 200, fields: Self.fresh), body: .init(PiecewiseBody(["one", "two"])))
        }
        let response = try await bench.cache.send(HTTPRequest(url: Bench.url))

        response.body.cancel()

        #expect(try await response.body.collect(limit: 100) == "onetwo".data)
        #expect(await bench.stored() == nil)
    }

    @Test func `reading past the end stores a body once, and an empty one too`() async throws {
        let bench = Bench()
        bench.server.respond(200, Self.fresh, body: "")
        let response = try await bench.cache.send(HTTPRequest(url: Bench.url))
        var iterator = response.body.makeAsyncIterator()

        for _ in 0..<3 { #expect(try await iterator.next() == nil) }

        #expect(await bench.stored()?.body == Data())
    }

    @Test func `an older response with a slower body does not replace a newer one`() async throws {
        let bench = Bench()
        bench.server.respond(200, Self.fresh, body: "old")
        let slow = try await bench.cache.send(HTTPRequest(url: Bench.url))
        try await bench.load(Self.fresh, body: "new")

        _ = try await slow.body.collect(limit: 100)

        #expect(try await bench.send().body == "new")
    }

    @Test func `a store that stores nothing fails no request`() async throws {
        let bench = Bench(store: MemoryResponseStore(byteLimit: 0))
        for _ in 0..<2 { #expect(try await bench.load(Self.fresh).body == "body") }
    }

    @Test(
        arguments: Roles.all,
        [
            (404, ["Cache-Control": "no-store"], false), (200, ["Cache-Control": "no-store"], false),
            (302, [:], false), (503, [:], true), (500, ["Cache-Control": "max-age=0"], true), (429, [:], true),
            (503, ["Cache-Control": "no-store"], true), (404, ["Cache-Control": "max-age=60"], false),
            (503, ["Cache-Control": "max-age=60"], false),
        ] as [(Int, HTTPFields, Bool)])
    func `a response replaces the stored one, and a server error keeps it`(
        role: CacheRole, row: (status: Int, fields: HTTPFields, isKept: Bool)
    ) async throws {
        let bench = Bench(role)
        try await bench.load(Self.fresh, body: "first")
        let received = try await bench.load(
            row.fields, status: row.status, body: "second", for: ["Cache-Control": "no-cache"])
        #expect(received.status == row.status)
        bench.server.respond(200, body: "third")

        let last = try await bench.send()

        #expect((last.body == "first") == row.isKept)
    }

    /// RFC 9111 section 4: the most recent response to a resource counts.
    @Test(
        arguments: Roles.all,
        [
            (1_001, [:], nil), (1_001, ["Content-Length": "1001"], nil), (4, ["Content-Length": "9"], nil),
            (4, [:], .connectionLost), (4, ["Content-Length": "9"], .connectionLost),
            (4, ["Content-Length": "9", "ETag": "\"w\""], .connectionLost), (4, ["Content-Length": "4, 5"], nil),
        ] as [(Int, HTTPFields, HTTPTransportError.Code?)])
    func `a newer response that cannot be stored removes the older one`(
        role: CacheRole, row: (count: Int, fields: HTTPFields, error: HTTPTransportError.Code?)
    ) async throws {
        let bench = Bench(role)
        try await bench.load(HTTPFields(Self.fresh.fields + [.init("ETag", "\"v\"")]), body: "old")
        bench.server.respond { request in
            let body = PiecewiseBody(
                [String(repeating: "x", count: row.count)], error: row.error.map { HTTPTransportError($0, "cut") })
            let fields = HTTPFields(Self.fresh.fields + row.fields.fields)
            return HTTPResponse(head: .init(url: request.url, status: 200, fields: fields), body: .init(body))
        }
        _ = try? await bench.send(["Cache-Control": "no-cache"])
        bench.server.respond(200, body: "new")

        #expect(try await bench.send().body == "new")
    }

    @Test(arguments: Roles.all) func `a response with the same content and a server error keep the stored one`(
        role: CacheRole
    ) async throws {
        for (status, tag) in [(200, "\"v\""), (503, "\"w\"")] {
            let bench = Bench(role)
            try await bench.load(HTTPFields(Self.fresh.fields + [.init("ETag", "\"v\"")]), body: "old")
            let fields = HTTPFields(Self.fresh.fields + [.init("ETag", tag), .init("Content-Length", "2000")])
            try await bench.load(fields, status: status, body: "cut", for: ["Cache-Control": "no-cache"])

            #expect(try await bench.send().body == "old")
        }
    }
}
