import AlcedoCore
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

/// RFC 9111 sections 4.3 and 4.4.
@Suite(.timeLimit(.minutes(3)))
struct ValidationTests {
    private static let date = "Sun, 06 Nov 1983 08:49:37 GMT"
    private let bench = Bench()

    @Test(
        arguments: [
            (["ETag": "\"v\""], ["If-None-Match": "\"v\""]), (["ETag": "W/\"v\""], ["If-None-Match": "W/\"v\""]),
            (["Last-Modified": date], ["If-Modified-Since": date]),
            (["ETag": "\"v\"", "Last-Modified": date], ["If-None-Match": "\"v\"", "If-Modified-Since": date]),
            (["ETag": "\"v\"", "Last-Modified": "x"], ["If-None-Match": "\"v\""]),
            (["ETag": "\"v\"", "etag": "\"w\"", "Last-Modified": date], ["If-Modified-Since": date]),
        ] as [(HTTPFields, HTTPFields)])
    func `a stale answer is confirmed by its validators`(stored: HTTPFields, sent: HTTPFields) async throws {
        bench.server.answer(200, stored, body: "first")
        try await bench.send(["X": "1"])
        bench.server.answer(304, [:], body: "")

        let answer = try await bench.send(["X": "1"])

        #expect(bench.server.requests.last?.fields == HTTPFields([.init("X", "1")] + sent.fields))
        #expect(answer.status == 200)
        #expect(answer.body == "first")
        #expect(answer.cacheStatus == "alcedo; fwd=stale; fwd-status=304; stored")
    }

    @Test func `a 304 brings new fields and a new life`() async throws {
        bench.server.answer(
            200,
            [
                "Cache-Control": "max-age=10", "ETag": "\"v\"", "Age": "5", "Date": "Sun, 06 Nov 1994 08:49:37 GMT",
                "Content-Length": "4", "Content-Type": "image/png", "X-Old": "1", "X-Both": "1",
            ])
        try await bench.send()
        bench.clock.advance(100)
        bench.server.answer(
            304,
            [
                "Cache-Control": "max-age=60", "ETag": "\"v\"", "Content-Length": "0", "Content-Encoding": "gzip",
                "X-Both": "2", "Connection": "X-Hop", "X-Hop": "1",
            ], body: "")
        try await bench.send()
        bench.clock.advance(59)

        let answer = try await bench.send()

        #expect(answer.isHit)
        #expect(answer.body == "body")
        #expect(answer.fields["Cache-Control"] == "max-age=60")
        #expect(answer.fields["Age"] == "59")
        #expect(answer.fields["Date"] == "Sun, 06 Nov 1994 08:51:17 GMT")
        #expect(answer.fields["Content-Length"] == "4")
        #expect(answer.fields["Content-Type"] == "image/png")
        #expect(answer.fields["X-Old"] == "1")
        #expect(answer.fields["X-Both"] == "2")
        #expect(answer.fields["Content-Encoding"] == nil && answer.fields["X-Hop"] == nil)
        #expect(await bench.store.responses(for: Bench.url).count == 1)
    }

    @Test(
        arguments: [
            (["ETag": "\"w\""], false), (["ETag": "\"v\""], true), (["ETag": "W/\"v\""], true), (["ETag": "x"], false),
            (["Last-Modified": date], false), ([:], true),
        ] as [(HTTPFields, Bool)])
    func `a 304 about something else is not believed`(fields: HTTPFields, isBelieved: Bool) async throws {
        bench.server.answer(200, ["ETag": "\"v\""], body: "first")
        try await bench.send()
        bench.server.answer(304, fields, body: "")
        bench.server.answer(200, [:], body: "second")

        let answer = try await bench.send()

        #expect(answer.body == (isBelieved ? "first" : "second"))
        #expect(bench.server.requests.count == (isBelieved ? 2 : 3))
        if !isBelieved { #expect(bench.server.requests.last?.fields == HTTPFields()) }
    }

    @Test(arguments: [["Cache-Control": "no-store"], ["Set-Cookie": "a=b"], ["Vary": "*"]] as [HTTPFields])
    func `a 304 that forbids storing is served and ends the storing`(fields: HTTPFields) async throws {
        bench.server.answer(200, ["ETag": "\"v\""])
        try await bench.send()
        bench.server.answer(304, fields, body: "")

        let answer = try await bench.send()

        #expect(answer.body == "body")
        #expect(answer.cacheStatus == "alcedo; fwd=stale; fwd-status=304")
        #expect(await bench.store.responses(for: Bench.url).isEmpty)
    }

    @Test func `a new answer takes the place of the stale one`() async throws {
        bench.server.answer(200, ["ETag": "\"v\""], body: "first")
        try await bench.send()
        bench.server.answer(200, ["Cache-Control": "max-age=60"], body: "second")

        let answer = try await bench.send()

        #expect(answer.cacheStatus == "alcedo; fwd=stale; fwd-status=200; stored")
        #expect(try await bench.send().body == "second")
        #expect(await bench.store.responses(for: Bench.url).count == 1)
    }

    @Test func `the caller's own condition goes to the server, and its 304 to the caller`() async throws {
        bench.server.answer(200, ["Cache-Control": "max-age=60", "ETag": "\"v\""])
        try await bench.send()
        bench.server.answer(304, [:], body: "")

        let answer = try await bench.send(["If-None-Match": "\"v\""])

        #expect(answer.status == 304)
        #expect(answer.cacheStatus == "alcedo; fwd=bypass; fwd-status=304")
    }

    @Test(arguments: [
        ("POST", 200, false), ("PUT", 204, false), ("DELETE", 303, false), ("PATCH", 200, false), ("FOO", 200, false),
        ("POST", 400, true), ("POST", 500, true), ("HEAD", 200, true), ("OPTIONS", 200, true),
    ])
    func `an unsafe method that succeeds ends the storing`(method: String, status: Int, isKept: Bool) async throws {
        bench.server.answer(200, ["Cache-Control": "max-age=60"])
        try await bench.send()
        bench.server.answer(status, [:])
        let spelling = try #require(URL(string: "HTTP://EXAMPLE.test:80/a.png#x"))
        try await bench.send(method: HTTPMethod(rawValue: method), url: spelling)
        bench.server.answer(200, [:])

        #expect(try await bench.send().isHit == isKept)
    }

    @Test func `an unsafe method that gets no answer ends the storing too`() async throws {
        bench.server.answer(200, ["Cache-Control": "max-age=60"])
        try await bench.send()

        await #expect(throws: HTTPTransportError.self) { try await bench.send(method: .post) }

        #expect(await bench.store.responses(for: Bench.url).isEmpty)
    }

    @Test func `an answer that was on its way while the resource changed is not stored`() async throws {
        bench.server.answer(200, ["Cache-Control": "max-age=60"], body: "old")
        let late = try await bench.cache.send(HTTPRequest(url: Bench.url))
        bench.server.answer(204, [:], body: "")
        try await bench.send(method: .put)

        #expect(try await late.body.collect(limit: 100) == Data("old".utf8))

        #expect(await bench.store.responses(for: Bench.url).isEmpty)
        bench.server.answer(200, ["Cache-Control": "max-age=60"], body: "new")
        try await bench.send()
        #expect(try await bench.send().body == "new")
    }

    @Test func `cancellation and failure of the network reach the caller as they are`() async throws {
        bench.server.answer { _ in throw CancellationError() }

        await #expect(throws: CancellationError.self) { try await bench.send() }
        await #expect(throws: HTTPTransportError(.cannotConnect, "no answer is prepared")) { try await bench.send() }
    }

    @Test func `what caches on the way did is kept, and each request tells its own`() async throws {
        bench.server.answer(200, ["Cache-Control": "max-age=60", "Cache-Status": "far; hit"])

        #expect(
            try await bench.send().fields["Cache-Status"] == "far; hit, alcedo; fwd=uri-miss; fwd-status=200; stored")
        #expect(try await bench.send().fields["Cache-Status"] == "far; hit, alcedo; hit")
        bench.server.answer(200, [:])
        #expect(
            try await bench.send(["Cache-Control": "no-cache"]).cacheStatus == "alcedo; fwd=request; fwd-status=200")
    }

    @Test func `many tasks at once agree on what is stored`() async throws {
        let bench = bench
        for _ in 0..<64 { bench.server.answer(200, ["Cache-Control": "max-age=60", "Vary": "Accept"]) }

        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<64 {
                group.addTask {
                    let answer = try await bench.send(["Accept": "\(index % 8)"])
                    #expect(answer.body == "body")
                }
            }
            try await group.waitForAll()
        }

        #expect(await bench.store.responses(for: Bench.url).count == 8)
    }
}
