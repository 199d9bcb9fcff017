import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

/// Servers with contradictory responses.
@Suite(.timeLimit(.minutes(10)))
struct BadResponseTests {
    private typealias Responder = @Sendable (HTTPRequest) async throws -> HTTPResponse

    private let clock = ManualClock()
    private let store = MemoryResponseStore(byteLimit: 64 << 20)

    /// Returns a cache before a server with these responses, of which the last is repeated.
    private func cache(
        _ responders: Responder..., on executor: ManualExecutor? = nil
    ) -> (CachingTransport, FakeTransport) {
        let count = Watched(0)
        let server = FakeTransport { request in
            let index = count.update { count in
                defer { count += 1 }
                return min(count, responders.count - 1)
            }
            return try await responders[index](request)
        }
        return (CachingTransport(wrapping: server, store: store, clock: clock, taskExecutor: executor), server)
    }

    private func get(_ cache: CachingTransport, _ fields: HTTPFields = [:]) async throws -> HTTPResponse {
        try await cache.send(HTTPRequest(url: .page(), fields: fields))
    }

    @Test(
        arguments: [
            ["Cache-Control": "max-age=99999999999999999999"], ["Cache-Control": "max-age=60, s-maxage=-1"],
            ["Cache-Control": "max-age=\"60\""], ["Cache-Control": "max-age=60", "Age": "-5"],
            ["Cache-Control": "max-age=60", "Age": "nonsense"], ["Cache-Control": "max-age=60", "Expires": "0"],
            ["Cache-Control": "max-age=60", "Date": "yesterday"],
            ["Cache-Control": "max-age=60", "Last-Modified": "\u{0}"],
            ["Cache-Control": "max-age=60", "X": "\u{0}\u{1}\r"], ["Cache-Control": "max-age=60, \u{0}"],
            ["Cache-Control": "max-age=60", "Vary": ",, ,"], ["Cache-Control": "max-age=60", "ETag": "\"unfinished"],
        ] as [HTTPFields])
    func `a response with a clear lifetime is used whatever else it contains`(fields: HTTPFields) async throws {
        let (cache, server) = cache { HTTPResponse($0, fields, "body") }
        for _ in 0..<2 { #expect(try await get(cache).text() == "body") }

        #expect(server.requests.count == 1)
    }

    @Test(
        arguments: [
            ["Cache-Control": "max-age=-1"], ["Cache-Control": "max-age=1e9"], ["Cache-Control": "max-age=60\u{0}"],
            ["Cache-Control": "max-age=60", "Age": "99999999999999999999"], ["Cache-Control": "max-age=60, max-age=61"],
            ["Expires": "tomorrow"], ["Expires": "99999999999999999999"], ["Expires": ""], [:],
            ["Cache-Control": "max-age=60", "Vary": "a b"], ["Cache-Control": "max-age=60", "Vary": "*"],
            ["Cache-Control": "max-age=60, x=\"no end"],
            ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-3/4"],
            ["Cache-Control": "max-age=60", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
        ] as [HTTPFields])
    func `a response without a clear lifetime is validated before use`(fields: HTTPFields) async throws {
        let (cache, server) = cache { HTTPResponse($0, fields, "body") }
        for _ in 0..<2 { #expect(try await get(cache).text() == "body") }

        #expect(server.requests.count == 2)
    }

    @Test func `a response with many fields and one of ten megabytes is passed on`() async throws {
        var fields = (0..<4_000).map { HTTPFields.Field("X-\($0 % 7)", "a, b") }
        fields += (0..<2_000).map { _ in .init("Cache-Control", "max-age=60, x") }
        fields.append(.init("X-Long", String(repeating: "x", count: 10 << 20)))
        let flood = HTTPFields(fields)
        let (cache, server) = cache { HTTPResponse($0, flood, "body") }
        for _ in 0..<2 { #expect(try await get(cache).text() == "body") }

        // An excessive number of directives, so the meaning of the others is unknown.
        #expect(server.requests.count == 2)
    }

    @Test(arguments: ["Cache-Control", "Vary", "Connection", "ETag", "Expires", "Age", "Content-Range", "Pragma"])
    func `a response with a parsed field of a hundred kilobytes is passed on`(name: String) async throws {
        for text in ["a,", "\"", "9"] {
            let value = String(repeating: text, count: (1 << 17) / text.utf8.count)
            let (cache, _) = cache {
                HTTPResponse($0, HTTPFields([.init(name, value), .init("Last-Modified", "nonsense")]), "body")
            }
            for _ in 0..<2 { #expect(try await get(cache, ["X": value]).text() == "body") }
        }
    }

    @Test(arguments: ["Cache-Control", "Range", "If-None-Match", "If-Modified-Since", "If-Range", "Accept-Language"])
    func `a request with a field of a hundred kilobytes is served`(name: String) async throws {
        let (cache, _) = cache { HTTPResponse($0, ["Cache-Control": "max-age=60", "Vary": name], "body") }
        let value = String(repeating: "a,\"", count: 1 << 15)
        for _ in 0..<2 { #expect(try await get(cache, HTTPFields([.init(name, value)])).text() == "body") }
    }

    // MARK: Wrong lengths

    @Test(arguments: ["3", "5", "99999999999999999999", "-4", "four", "4, 5", "4.0", ""])
    func `a body of a length other than declared is not stored as whole`(length: String) async throws {
        let (cache, server) = cache {
            HTTPResponse($0, ["Cache-Control": "max-age=60", "Content-Length": length, "ETag": "\"a\""], "four")
        }
        for _ in 0..<2 { #expect(try await get(cache).text() == "four") }

        #expect(server.requests.count == 2)
    }

    @Test func `a repeated equal length counts once`() async throws {
        let (cache, server) = cache {
            HTTPResponse(
                $0,
                HTTPFields([
                    .init("Cache-Control", "max-age=60"), .init("Content-Length", "4"), .init("content-length", "4"),
                ]),
                "four")
        }
        for _ in 0..<2 { #expect(try await get(cache).text() == "four") }

        #expect(server.requests.count == 1)
    }

    // MARK: 304

    @Test func `an unrequested 304 is passed on and nothing is stored`() async throws {
        let (cache, server) = cache { HTTPResponse($0, status: 304, ["Cache-Control": "max-age=60", "ETag": "\"a\""]) }
        for _ in 0..<2 { #expect(try await get(cache).head.status == 304) }

        #expect(server.requests.count == 2)
        #expect(store.totalSize == 0)
    }

    @Test(arguments: [["ETag": "\"other\""], ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]] as [HTTPFields])
    func `a 304 about different content causes a full request`(fields: HTTPFields) async throws {
        let (cache, server) = cache(
            { HTTPResponse($0, ["ETag": "\"a\""], "old") }, { HTTPResponse($0, status: 304, fields) },
            { HTTPResponse($0, ["Cache-Control": "max-age=60"], "new") })
        _ = try await get(cache).text()
        for _ in 0..<2 { #expect(try await get(cache).text() == "new") }

        #expect(server.requests.map { $0.fields["If-None-Match"] } == [nil, "\"a\"", nil])
    }

    @Test func `a 304 with a length or a coding does not change those of the content`() async throws {
        let (cache, _) = cache(
            { HTTPResponse($0, ["ETag": "\"a\"", "Content-Length": "4"], "four") },
            {
                HTTPResponse(
                    $0, status: 304,
                    [
                        "ETag": "\"a\"", "Content-Length": "0", "Content-Encoding": "gzip",
                        "Content-Range": "bytes 0-1/2",
                        "Cache-Control": "max-age=60",
                    ])
            })
        _ = try await get(cache).text()
        for _ in 0..<2 {
            let response = try await get(cache)
            #expect(response.head.fields["Content-Length"] == "4")
            #expect(response.head.fields["Content-Encoding"] == nil)
            #expect(response.head.fields["Content-Range"] == nil)
            #expect(try await response.text() == "four")
        }
    }

    @Test func `a caller without a condition never receives another caller's 304`() async throws {
        let (gate, executor) = (Gate(), ManualExecutor())
        let (cache, server) = cache(
            { HTTPResponse($0, ["ETag": "\"a\""], "old") },
            {
                await gate.pass()
                return HTTPResponse($0, status: 304, ["ETag": "\"nobody's\""])
            }, { HTTPResponse($0, [:], "new") }, on: executor)
        _ = try await get(cache).text()

        // Both are the same request to the server, and the first caller leaves.
        let conditional = Task(executorPreference: executor) { try await get(cache, ["If-None-Match": "\"a\""]) }
        executor.drain()
        let plain = Task(executorPreference: executor) { try await get(cache).head.status }
        executor.drain()
        #expect(server.requests.count == 2)
        conditional.cancel()
        executor.drain()
        await #expect(throws: CancellationError.self) { try await conditional.value }
        gate.open()
        executor.drain()

        #expect(try await plain.value == 200)
    }

    // MARK: Parts

    private static let tag = ["ETag": "\"a\"", "Cache-Control": "max-age=60"] as HTTPFields

    private static func part(_ range: String, _ body: String, _ tag: String = "\"a\"") -> Responder {
        { HTTPResponse($0, status: 206, ["ETag": tag, "Cache-Control": "max-age=60", "Content-Range": range], body) }
    }

    @Test(arguments: [
        "bytes 0-2/10", "bytes 4-1/10", "bytes 0-3/3", "bytes */10", "nonsense", "", "bytes 0-3",
        "bytes 0-9223372036854775807/*", "bytes 0-99999999999999999999/*", "items 0-3/10",
    ])
    func `a part with an inconsistent Content-Range is passed on and not stored`(range: String) async throws {
        let (cache, server) = cache(Self.part(range, "four"))
        for _ in 0..<2 {
            let response = try await get(cache, ["Range": "bytes=0-3"])
            #expect(response.head.status == 206)
            #expect(try await response.text() == "four")
        }
        #expect(server.requests.count == 2)
        #expect(store.totalSize == 0)
    }

    @Test func `overlapping parts of the same content are combined`() async throws {
        let (cache, server) = cache(
            Self.part("bytes 0-5/10", "012345"), Self.part("bytes 4-9/10", "456789"), Self.part("bytes 2-3/10", "23"))
        _ = try await get(cache, ["Range": "bytes=0-5"]).text()
        _ = try await get(cache, ["Range": "bytes=4-9"]).text()
        let whole = try await get(cache)

        #expect(whole.head.status == 200)
        #expect(whole.head.fields["Content-Length"] == "10")
        #expect(try await whole.text() == "0123456789")
        #expect(server.requests.count == 2)
    }

    /// Parts that are not of the same content as the first six of ten bytes with the tag "a", or are not adjacent to
    /// them.
    static let strangers: [(range: String, body: String, tag: String)] = [
        ("bytes 4-9/10", "456789", "\"b\""), ("bytes 4-9/10", "456789", "W/\"a\""),
        ("bytes 4-11/12", "456789ab", "\"a\""), ("bytes 7-9/10", "789", "\"a\""),
    ]

    @Test(arguments: strangers.indices)
    func `parts that do not fit are never combined`(index: Int) async throws {
        let stranger = Self.strangers[index]
        let second = Self.part(stranger.range, stranger.body, stranger.tag)
        let (cache, server) = cache(
            Self.part("bytes 0-5/10", "012345"), second, { HTTPResponse($0, Self.tag, "a whole one") })
        _ = try await get(cache, ["Range": "bytes=0-5"]).text()
        _ = try await get(cache, ["Range": "bytes=4-"]).text()
        let whole = try await get(cache)

        #expect(try await whole.text() == "a whole one")
        #expect(server.requests.count == 3)
    }

    /// Wrong responses to a request for the rest of "0123456789", of which the first six bytes are stored.
    static let lies: [(range: String, body: String)] = [
        ("bytes 6-9/10", "67"), ("bytes 6-9/10", "6789ab"), ("bytes 6-9/10", ""), ("bytes 5-9/10", "56789"),
        ("bytes 6-8/10", "678"), ("bytes 6-9/*", "6789"), ("bytes 7-9/10", "789"), ("nonsense", "6789"),
        ("bytes 6-11/12", "6789ab"),
    ]

    @Test(arguments: lies.indices)
    func `an incomplete response is never completed with a wrong rest`(index: Int) async throws {
        let (cache, _) = cache(
            {
                HTTPResponse(
                    $0, ["ETag": "\"a\"", "Cache-Control": "max-age=60", "Content-Length": "10"],
                    HTTPBody(BrokenBody("012345")))
            }, Self.part(Self.lies[index].range, Self.lies[index].body),
            { HTTPResponse($0, ["ETag": "\"a\"", "Content-Length": "10"], "0123456789") })
        _ = try? await get(cache).text()

        // An error or the right content, and the right content the next time at the latest.
        if let text = try? await get(cache).text() { #expect(text == "0123456789") }
        for _ in 0..<2 { #expect(try await get(cache).text() == "0123456789") }
    }

    @Test func `an incomplete response is completed with its rest`() async throws {
        let (cache, server) = cache(
            {
                HTTPResponse(
                    $0, ["ETag": "\"a\"", "Cache-Control": "max-age=60", "Content-Length": "10"],
                    HTTPBody(BrokenBody("012345")))
            }, Self.part("bytes 6-9/10", "6789"))
        await #expect(throws: HTTPTransportError.self) { try await get(cache).text() }

        for _ in 0..<2 {
            let whole = try await get(cache)
            #expect(whole.head.status == 200)
            #expect(try await whole.text() == "0123456789")
        }
        #expect(server.requests.map { $0.fields["Range"] } == [nil, "bytes=6-"])
    }

    @Test func `an unsatisfiable or invalid range does not change the stored response`() async throws {
        let (cache, server) = cache { HTTPResponse($0, Self.tag, "0123456789") }
        _ = try await get(cache).text()

        #expect(try await get(cache, ["Range": "bytes=10-"]).head.status == 416)
        #expect(try await get(cache, ["Range": "bytes=3-2"]).head.status == 200)
        #expect(try await get(cache, ["Range": "bytes=99999999999999999999-"]).head.status == 416)
        #expect(try await get(cache, ["Range": "bytes=-99999999999999999999"]).text() == "0123456789")
        #expect(try await get(cache).text() == "0123456789")
        // Only the server can evaluate an invalid one.
        #expect(server.requests.count == 2)
    }
}
