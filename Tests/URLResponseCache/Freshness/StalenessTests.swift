import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// RFC 9111 section 4.2.4, RFC 5861.
@Suite(.timeLimit(.minutes(10)))
struct StalenessTests {
    struct Row: Sendable {
        var response: String
        var request: HTTPFields = [:]
        /// The server's status, or nil if it is unreachable.
        var status: Int?
        var after: Int
        var served: Roles

        init(
            _ response: String, for request: String? = nil, status: Int?, after: Int, _ served: Roles
        ) {
            self.response = response
            if let request { self.request = ["Cache-Control": request] }
            self.status = status
            self.after = after
            self.served = served
        }
    }

    @Test(
        arguments: Roles.all,
        [
            Row("max-age=60, stale-if-error=30", status: 500, after: 90, .both),
            Row("max-age=60, stale-if-error=30", status: 502, after: 90, .both),
            Row("max-age=60, stale-if-error=30", status: 503, after: 90, .both),
            Row("max-age=60, stale-if-error=30", status: 504, after: 90, .both),
            Row("max-age=60, stale-if-error=30", status: 503, after: 91, .neither),
            Row("max-age=60, stale-if-error=30", status: 501, after: 70, .neither),
            Row("max-age=60, stale-if-error=30", status: 429, after: 70, .neither),
            Row("max-age=60, stale-if-error=30", status: 404, after: 70, .neither),
            Row("max-age=60, stale-if-error=30", status: nil, after: 90, .both),
            Row("max-age=60, stale-if-error=x", status: 503, after: 61, .neither),
            Row("max-age=60, stale-if-error", status: 503, after: 61, .neither),
            Row("max-age=60, stale-if-error=99999999999999999999", status: 503, after: 1_000_000, .both),
            Row("max-age=60, stale-if-error=30, must-revalidate", status: 503, after: 70, .neither),
            Row("max-age=60, stale-if-error=30, must-revalidate", status: nil, after: 70, .neither),
            Row("max-age=60, stale-if-error=30, no-cache", status: 503, after: 1, .neither),
            Row("max-age=60, stale-if-error=30, proxy-revalidate", status: 503, after: 70, .privateOnly),
            Row("max-age=60, s-maxage=60, stale-if-error=30", status: 503, after: 70, .privateOnly),
            Row("max-age=60, stale-if-error=30", for: "no-cache", status: 503, after: 1, .neither),
            Row("max-age=60, stale-if-error=30", for: "max-age=5", status: 503, after: 70, .neither),
            // The directives of the request.
            Row("max-age=60", for: "stale-if-error=30", status: 503, after: 90, .both),
            Row("max-age=60", for: "stale-if-error=30", status: 503, after: 91, .neither),
            Row("max-age=60, must-revalidate", for: "stale-if-error=30", status: 503, after: 70, .neither),
            // Without a directive the status of a reachable server counts. An unreachable server has none.
            Row("max-age=60", status: 503, after: 61, .neither),
            Row("max-age=60", status: nil, after: 100_000, .both),
            Row("max-age=60, must-revalidate", status: nil, after: 61, .neither),
            Row("max-age=60, proxy-revalidate", status: nil, after: 61, .privateOnly),
            Row("max-age=60, s-maxage=1", status: nil, after: 61, .privateOnly),
            Row("no-cache", status: nil, after: 1, .neither),
            Row("max-age=60", for: "no-cache", status: nil, after: 1, .neither),
            Row("max-age=60", for: "max-age=5", status: nil, after: 61, .neither),
        ])
    func `a stale response is served when the server fails`(role: CacheRole, row: Row) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": row.response, "ETag": "\"v\""], body: "old")
        bench.advance(row.after)
        if let status = row.status { bench.server.respond(status, body: "trouble") }

        if row.status == nil, !row.served.contains(role) {
            let error = await #expect(throws: HTTPTransportError.self) { try await bench.send(row.request) }
            #expect(error?.code == .cannotConnect)
            return
        }
        let received = try await bench.send(row.request)

        #expect(received.body == (row.served.contains(role) ? "old" : "trouble"))
        #expect(received.source == (row.served.contains(role) ? .stale : .new))
        #expect(bench.server.requests.count == 2)
    }

    @Test(
        arguments: Roles.all,
        [
            Row("max-age=60, stale-while-revalidate=30", status: 200, after: 60, .both),
            Row("max-age=60, stale-while-revalidate=30", status: 200, after: 90, .both),
            Row("max-age=60, stale-while-revalidate=30", status: 200, after: 91, .neither),
            Row("max-age=60, stale-while-revalidate=0", status: 200, after: 60, .neither),
            Row("max-age=60, stale-while-revalidate=x", status: 200, after: 61, .neither),
            Row("max-age=60, stale-while-revalidate", status: 200, after: 61, .neither),
            Row("max-age=60, stale-while-revalidate=30, must-revalidate", status: 200, after: 61, .neither),
            Row("max-age=60, stale-while-revalidate=30, no-cache", status: 200, after: 1, .neither),
            Row("max-age=60, stale-while-revalidate=30, proxy-revalidate", status: 200, after: 61, .privateOnly),
            Row("s-maxage=60, max-age=60, stale-while-revalidate=30", status: 200, after: 61, .privateOnly),
            Row("max-age=60, stale-while-revalidate=30", for: "no-cache", status: 200, after: 61, .neither),
            Row("max-age=60, stale-while-revalidate=30", for: "max-age=0", status: 200, after: 61, .neither),
            Row("max-age=60, stale-while-revalidate=30", for: "min-fresh=1", status: 200, after: 61, .neither),
        ])
    func `a stale response is served while it is revalidated`(role: CacheRole, row: Row) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": row.response], body: "old")
        bench.advance(row.after)
        bench.server.respond(200, ["Cache-Control": "max-age=60"], body: "new")

        let received = try await bench.send(row.request)
        await bench.cache.finish()

        let isServed = row.served.contains(role)
        #expect(received.body == (isServed ? "old" : "new"))
        #expect(received.source == (isServed ? .stale : .new))
        #expect(bench.server.requests.count == 2)
        #expect(try await bench.send().body == "new")
    }

    @Test func `a failed background revalidation keeps the stale response`() async throws {
        let bench = Bench()
        try await bench.load(["Cache-Control": "max-age=60, stale-while-revalidate=30"], body: "old")
        bench.advance(61)
        for status in [nil, 503] {
            if let status { bench.server.respond(status, body: "trouble") }
            #expect(try await bench.send().body == "old")
            await bench.cache.finish()
        }
        #expect(bench.server.requests.count == 3)
    }

    @Test func `serving stale responses for an unreachable server can be disabled`() async throws {
        let bench = Bench { $0.servesStaleWhenDisconnected = false }
        try await bench.load(["Cache-Control": "max-age=60"])
        bench.advance(61)

        await #expect(throws: HTTPTransportError.self) { try await bench.send() }
        #expect(try await bench.send(["Cache-Control": "stale-if-error=5"]).source == .stale)
    }

    /// RFC 9111 section 5.2.2.2. Each row: the directives of the response and of the request, and the reason for
    /// validation.
    @Test(
        arguments: Roles.all,
        [
            ("max-age=1, must-revalidate", [:], .useProtocolCachePolicy, "stale"),
            ("max-age=60, no-cache", [:], .useProtocolCachePolicy, "stale"),
            ("max-age=60", ["Cache-Control": "no-cache"], .useProtocolCachePolicy, "request"),
            ("max-age=60", ["Cache-Control": "max-age=1"], .useProtocolCachePolicy, "request"),
            ("max-age=60", [:], .reloadRevalidatingCacheData, "request"),
            ("max-age=60", [:], .reloadIgnoringLocalCacheData, "request"),
        ] as [(String, HTTPFields, HTTPCachePolicy, String)])
    func `a response that must not be served stale becomes 504 when the rules require a response`(
        role: CacheRole, row: (control: String, request: HTTPFields, policy: HTTPCachePolicy, reason: String)
    ) async throws {
        for code in [HTTPTransportError.Code.connectionLost, .cannotConnect, .timedOut, .offline, .cannotResolveHost] {
            for isEnabled in [true, false] {
                let bench = Bench(role) { $0.respondsWhenDisconnected = isEnabled }
                try await bench.load(["Cache-Control": row.control, "X": "stored", "ETag": "\"v\""])
                bench.advance(5)
                bench.server.respond { _ in throw HTTPTransportError(code, "as told") }
                guard isEnabled else {
                    let error = await #expect(throws: HTTPTransportError.self) {
                        try await bench.send(row.request, policy: row.policy)
                    }
                    #expect(error?.code == code)
                    continue
                }

                let received = try await bench.send(row.request, policy: row.policy)

                #expect(received.status == 504)
                #expect(received.body.isEmpty)
                #expect(received.fields == ["Content-Length": "0", "Cache-Status": "alcedo; fwd=\(row.reason)"])
                // The stored response is kept.
                #expect(await bench.stored()?.head.fields["X"] == "stored")
            }
        }
    }

    @Test(arguments: Roles.all)
    func `respondsWhenDisconnected does not change other requests`(role: CacheRole) async throws {
        let bench = Bench(role) { $0.respondsWhenDisconnected = true }
        // Nothing is stored.
        await #expect(throws: HTTPTransportError.self) { try await bench.send() }
        await #expect(throws: HTTPTransportError.self) { try await bench.send(policy: .returnCacheDataDontLoad) }
        try await bench.load(["Cache-Control": "max-age=1"])
        bench.advance(5)
        #expect(try await bench.send().source == .stale)
        // An error other than a network failure, and an unsafe method.
        bench.server.respond { _ in throw HTTPTransportError(.invalidResponse, "as told") }
        await #expect(throws: HTTPTransportError.self) { try await bench.send(["Cache-Control": "no-cache"]) }
        bench.server.respond { _ in throw CancellationError() }
        await #expect(throws: CancellationError.self) { try await bench.send(["Cache-Control": "no-cache"]) }
        await #expect(throws: HTTPTransportError.self) { try await bench.send(method: .delete) }
    }

    @Test(arguments: [
        HTTPTransportError.Code.offline, .cannotResolveHost, .cannotConnect, .timedOut, .connectionLost,
    ])
    func `a stale response is served when the server is unreachable`(code: HTTPTransportError.Code) async throws {
        let bench = Bench()
        try await bench.load(["Cache-Control": "max-age=60"], body: "old")
        bench.advance(61)
        bench.server.respond { _ in throw HTTPTransportError(code, "as told") }

        let received = try await bench.send()

        #expect(received.body == "old")
        #expect(received.source == .stale)
    }

    @Test(arguments: [
        HTTPTransportError.Code.secureConnectionFailed, .invalidRequest, .invalidResponse, .shutDown, .failed,
    ])
    func `an error that is not a network failure is thrown`(code: HTTPTransportError.Code) async throws {
        let bench = Bench()
        try await bench.load(["Cache-Control": "max-age=60"])
        bench.advance(61)
        bench.server.respond { _ in throw HTTPTransportError(code, "as told") }

        let error = await #expect(throws: HTTPTransportError.self) { try await bench.send() }

        #expect(error?.code == code)
    }

    @Test func `a cancellation is always thrown`() async throws {
        let bench = Bench()
        try await bench.load(["Cache-Control": "max-age=60, stale-if-error=100"])
        bench.advance(61)
        bench.server.respond { _ in throw CancellationError() }

        await #expect(throws: CancellationError.self) { try await bench.send() }
    }

    /// RFC 9111 section 4.2.1: a response that had expired before it was sent has been stale since then.
    @Test(
        arguments: [
            ("stale-while-revalidate=30", [:], false), ("stale-while-revalidate=130", [:], true),
            ("public", ["Cache-Control": "max-stale=50"], false), ("public", ["Cache-Control": "max-stale=130"], true),
        ] as [(String, HTTPFields, Bool)])
    func `a response that expired before its Date has been stale since then`(
        control: String, request: HTTPFields, isServed: Bool
    ) async throws {
        let bench = Bench()
        let fields: HTTPFields = [
            "Date": date(0), "Age": "20", "Expires": date(-100), "Cache-Control": control, "ETag": "\"v\"",
        ]
        try await bench.load(fields, body: "old")

        let received = try await bench.load(fields, body: "new", for: request)

        #expect(received.body == (isServed ? "old" : "new"))
        await bench.cache.finish()
    }
}
