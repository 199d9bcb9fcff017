import AlcedoCore
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

/// RFC 9111 section 3: what is stored, and how.
@Suite(.timeLimit(.minutes(3)))
struct StorageTests {
    private static let fresh: HTTPFields = ["Cache-Control": "max-age=60"]

    struct Row: Sendable {
        var request: HTTPFields = [:]
        var status = 200
        var fields: HTTPFields
        var isStored: Bool
    }

    @Test(arguments: [
        Row(fields: fresh, isStored: true),
        Row(fields: ["ETag": "\"v\""], isStored: true),
        Row(fields: ["Last-Modified": "Sun, 06 Nov 1983 08:49:37 GMT"], isStored: true),
        Row(fields: ["Cache-Control": "max-age=0", "ETag": "\"v\""], isStored: true),
        Row(fields: [:], isStored: false),
        Row(fields: ["ETag": "no tag"], isStored: false),
        Row(fields: ["Last-Modified": "long ago"], isStored: false),
        Row(fields: ["Cache-Control": "max-age=0"], isStored: false),
        Row(fields: ["Cache-Control": "no-cache, max-age=60"], isStored: false),
        Row(fields: ["Cache-Control": "no-store, max-age=60"], isStored: false),
        Row(fields: ["Cache-Control": "no-store, must-understand, max-age=60"], isStored: false),
        Row(fields: ["Cache-Control": "max-age=60, x=\"no"], isStored: false),
        Row(request: ["Cache-Control": "no-store"], fields: fresh, isStored: false),
        Row(request: ["Range": "bytes=0-3"], fields: fresh, isStored: false),
        Row(request: ["If-None-Match": "\"x\""], fields: fresh, isStored: false),
        Row(fields: ["Cache-Control": "max-age=60", "Vary": "*"], isStored: false),
        Row(fields: ["Cache-Control": "max-age=60", "Vary": "Accept, *"], isStored: false),
        Row(fields: ["Cache-Control": "max-age=60", "Vary": "Accept;q=1"], isStored: false),
        Row(fields: ["Cache-Control": "max-age=60", "Vary": "Accept"], isStored: true),
        Row(fields: ["Cache-Control": "max-age=60", "Set-Cookie": "a=b"], isStored: false),
        Row(fields: ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-3/9"], isStored: false),
        Row(status: 206, fields: fresh, isStored: false),
        Row(status: 203, fields: fresh, isStored: false),
        Row(status: 301, fields: fresh, isStored: false),
        Row(status: 404, fields: fresh, isStored: false),
        Row(status: 500, fields: fresh, isStored: false),
        // Section 3.5.
        Row(request: ["Authorization": "x"], fields: fresh, isStored: false),
        Row(request: ["Authorization": "x"], fields: ["Cache-Control": "max-age=60, private"], isStored: false),
        Row(request: ["Authorization": "x"], fields: ["Cache-Control": "max-age=60, public"], isStored: true),
        Row(request: ["Authorization": "x"], fields: ["Cache-Control": "max-age=60, must-revalidate"], isStored: true),
        Row(request: ["Authorization": "x"], fields: ["Cache-Control": "max-age=60, s-maxage=1"], isStored: true),
    ])
    func `only what is sure is stored`(row: Row) async throws {
        let bench = Bench()
        bench.server.answer(row.status, row.fields)

        let answer = try await bench.send(row.request)

        #expect(answer.status == row.status)
        #expect(answer.body == "body")
        #expect(answer.cacheStatus?.hasSuffix("; stored") == row.isStored)
        #expect(await bench.store.responses(for: Bench.url).count == (row.isStored ? 1 : 0))
    }

    @Test(arguments: ["HEAD", "POST", "OPTIONS", "get"])
    func `other methods are not stored`(method: String) async throws {
        let bench = Bench()
        bench.server.answer(200, Self.fresh)

        let answer = try await bench.send(method: HTTPMethod(rawValue: method))

        #expect(answer.cacheStatus == "alcedo; fwd=method; fwd-status=200")
        #expect(await bench.store.responses(for: Bench.url).isEmpty)
    }

    @Test func `credentials in the URL count as such`() async throws {
        let bench = Bench()
        let url = try #require(URL(string: "http://user:word@example.test/a.png"))
        bench.server.answer(200, Self.fresh)

        #expect(try await bench.send(url: url).cacheStatus == "alcedo; fwd=uri-miss; fwd-status=200")
    }

    @Test func `fields of the connection are not stored`() async throws {
        let bench = Bench()
        bench.server.answer(
            200,
            [
                "Cache-Control": "max-age=60", "Connection": "close, X-Hop", "X-Hop": "1", "Keep-Alive": "1",
                "Transfer-Encoding": "chunked", "Upgrade": "x", "TE": "x", "Trailer": "x", "Proxy-Authenticate": "x",
                "Content-Type": "image/png", "X-End": "1",
            ])
        try await bench.send()

        let names = try await Set(bench.send().fields.fields.map { $0.name })

        #expect(names == ["Cache-Control", "Content-Type", "X-End", "Date", "Age", "Cache-Status"])
    }

    @Test(
        arguments: [
            (4, ["Content-Length": "5"]), (4, ["Content-Length": "3"]), (1_001, [:]),
            (1_001, ["Content-Length": "1001"]),
        ] as [(Int, HTTPFields)])
    func `a body that is not whole or too long is passed on and not stored`(count: Int, length: HTTPFields) async throws
    {
        let bench = Bench()
        let body = String(repeating: "x", count: count)
        bench.server.answer(200, HTTPFields(Self.fresh.fields + length.fields), body: body)

        #expect(try await bench.send().body == body)

        #expect(await bench.store.responses(for: Bench.url).isEmpty)
    }

    @Test func `a newer answer is not replaced by an older one whose body took longer`() async throws {
        let bench = Bench()
        bench.server.answer(200, Self.fresh, body: "old")
        let slow = try await bench.cache.send(HTTPRequest(url: Bench.url))
        bench.clock.advance(1)
        bench.server.answer(200, Self.fresh, body: "new")
        try await bench.send()

        _ = try await slow.body.collect(limit: 100)

        #expect(try await bench.send().body == "new")
    }

    @Test func `an answer from a time that has not come yet is replaced`() async throws {
        let bench = Bench()
        bench.server.answer(200, Self.fresh, body: "slow")
        let slow = try await bench.cache.send(HTTPRequest(url: Bench.url))
        bench.clock.advance(1_000)
        bench.server.answer(200, Self.fresh, body: "future")
        try await bench.send()
        bench.clock.advance(-999)

        _ = try await slow.body.collect(limit: 100)

        #expect(try await bench.send().body == "slow")
    }

    @Test func `a body of just the limit is stored`() async throws {
        let bench = Bench()
        let body = String(repeating: "x", count: 1_000)
        bench.server.answer(200, Self.fresh, body: body)
        try await bench.send()

        #expect(try await bench.send().body == body)
    }

    @Test func `a body that is cut is an error and not stored`() async throws {
        let bench = Bench()
        let source = PiecewiseBody(["one", "two"], error: HTTPTransportError(.connectionLost, "cut"))
        bench.server.answer {
            HTTPResponse(head: .init(url: $0.url, status: 200, fields: Self.fresh), body: .init(source))
        }
        let response = try await bench.cache.send(HTTPRequest(url: Bench.url))
        var pieces: [Data] = []

        let error = await #expect(throws: HTTPTransportError.self) {
            for try await piece in response.body { pieces.append(piece) }
        }

        #expect(error?.code == .connectionLost)
        #expect(pieces == [Data("one".utf8), Data("two".utf8)])
        // Who reads on makes it no better.
        #expect(try await response.body.collect(limit: 100).isEmpty)
        #expect(await bench.store.responses(for: Bench.url).isEmpty)
    }

    @Test func `a body is passed on before it is whole, and letting go of it stops the transfer`() async throws {
        let bench = Bench()
        let source = PiecewiseBody(["one", "two"])
        bench.server.answer {
            HTTPResponse(head: .init(url: $0.url, status: 200, fields: Self.fresh), body: .init(source))
        }

        do {
            let response = try await bench.cache.send(HTTPRequest(url: Bench.url))
            var iterator = response.body.makeAsyncIterator()
            #expect(try await iterator.next() == Data("one".utf8))
            #expect(!source.isCancelled)
        }

        #expect(source.isCancelled)
        #expect(await bench.store.responses(for: Bench.url).isEmpty)
    }

    @Test func `a body that was cancelled is not stored, even when it is read on`() async throws {
        let bench = Bench()
        bench.server.answer {
            HTTPResponse(
                head: .init(url: $0.url, status: 200, fields: Self.fresh), body: .init(PiecewiseBody(["one", "two"])))
        }
        let response = try await bench.cache.send(HTTPRequest(url: Bench.url))

        response.body.cancel()

        #expect(try await response.body.collect(limit: 100) == Data("onetwo".utf8))
        #expect(await bench.store.responses(for: Bench.url).isEmpty)
    }

    @Test func `a body read past its end is stored once, and an empty one too`() async throws {
        let bench = Bench()
        bench.server.answer(200, Self.fresh, body: "")
        let response = try await bench.cache.send(HTTPRequest(url: Bench.url))
        var iterator = response.body.makeAsyncIterator()

        for _ in 0..<3 { #expect(try await iterator.next() == nil) }

        #expect(await bench.store.responses(for: Bench.url).map(\.body) == [Data()])
    }

    @Test func `a store that keeps nothing fails no request`() async throws {
        let bench = Bench(store: MemoryResponseStore(byteLimit: 0))
        for _ in 0..<2 {
            bench.server.answer(200, Self.fresh)
            #expect(try await bench.send().body == "body")
        }
    }

    @Test func `an answer that may not be stored takes the place of what is`() async throws {
        let bench = Bench()
        bench.server.answer(200, Self.fresh)
        try await bench.send()
        bench.server.answer(404, ["Cache-Control": "no-store"])

        try await bench.send(["Cache-Control": "no-cache"])

        #expect(await bench.store.responses(for: Bench.url).isEmpty)
    }

    @Test func `a server in trouble leaves what is stored`() async throws {
        let bench = Bench()
        bench.server.answer(200, Self.fresh)
        try await bench.send()
        bench.server.answer(503, [:])

        #expect(try await bench.send(["Cache-Control": "no-cache"]).status == 503)

        #expect(try await bench.send().isHit)
    }
}
