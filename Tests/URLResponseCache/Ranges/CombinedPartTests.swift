import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

/// RFC 9111 sections 3.3 and 3.4: truncated parts, and the combination of several parts.
@Suite(.timeLimit(.minutes(10)))
struct CombinedPartTests {
    /// Loads a part of the ten digits.
    private func load(
        _ range: ClosedRange<Int>, _ fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"v\""],
        for request: HTTPFields = [:], in bench: Bench
    ) async throws {
        let place = "\(range.lowerBound)-\(range.upperBound)"
        try await bench.load(
            HTTPFields(fields.fields + [.init("Content-Range", "bytes \(place)/10")]), status: 206,
            body: String(Array("0123456789")[range]),
            for: HTTPFields(request.fields + [.init("Range", "bytes=\(place)")]))
    }

    /// Loads a part of which only the first bytes arrive.
    private func loadCut(_ range: ClosedRange<Int>, after body: String, tag: String?, in bench: Bench) async throws {
        bench.server.respond {
            var fields: HTTPFields = [
                "Cache-Control": "max-age=60", "Content-Range": "bytes \(range.lowerBound)-\(range.upperBound)/10",
            ]
            fields["ETag"] = tag
            return HTTPResponse(
                head: .init(url: $0.url, status: 206, fields: fields),
                body: .init(PiecewiseBody([body], error: HTTPTransportError(.connectionLost, "cut"))))
        }
        await #expect(throws: HTTPTransportError.self) {
            try await bench.send(["Range": "bytes=\(range.lowerBound)-\(range.upperBound)"])
        }
    }

    @Test(arguments: Roles.all, ["\"v\"", nil]) func `the received bytes of a truncated part are kept`(
        role: CacheRole, tag: String?
    ) async throws {
        let bench = Bench(role)
        try await loadCut(2...9, after: "2345", tag: tag, in: bench)

        let response = try await bench.send(["Range": "bytes=3-5"])

        #expect(response.isHit)
        #expect(response.body == "345")
        #expect(response.fields["Content-Range"] == "bytes 3-5/10")
        for range in ["bytes=3-6", "bytes=3-", "bytes=-1"] {
            bench.server.respond(416)
            #expect(try await bench.send(["Range": range]).status == 416)
        }
    }

    @Test(arguments: Roles.all) func `a truncated part is continued`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await loadCut(0...9, after: "012", tag: "\"v\"", in: bench)
        try await loadCut(3...9, after: "345", tag: "\"v\"", in: bench)

        let response = try await bench.load(
            ["ETag": "\"v\"", "Content-Range": "bytes 6-9/10"], status: 206, body: "6789")

        #expect(bench.server.requests.last?.fields["Range"] == "bytes=6-")
        #expect(response.status == 200)
        #expect(response.body == "0123456789")
    }

    /// The server declares six bytes and sends five: the received bytes begin with the first, and the last one is
    /// missing.
    @Test(
        arguments: Roles.all,
        [("bytes=6-8", "234"), ("bytes=4-4", "0"), ("bytes=-5", nil), ("bytes=-1", nil), ("bytes=6-", nil)]
            as [(String, String?)])
    func `a part shorter than its range has only the received bytes`(
        role: CacheRole, row: (range: String, body: String?)
    ) async throws {
        // A range with a last byte does not request the end, and a body without a length may have been truncated. With
        // a strong validator the end can be appended.
        for (range, length, place, tag) in [
            ("bytes=4-9", "5", "4-9/10", nil), ("bytes=-5", nil, "4-9/10", nil), ("bytes=-5", "6", "4-9/10", nil),
            ("bytes=-5", "5", "4-9/11", nil), ("bytes=-5", "5", "4-9/*", nil), ("bytes=-5", "5", "4-9/10", "\"v\""),
        ] as [(String, String?, String, String?)] {
            let bench = Bench(role)
            var fields: HTTPFields = ["Cache-Control": "max-age=3600", "Content-Range": "bytes \(place)"]
            (fields["Content-Length"], fields["ETag"]) = (length, tag)
            try await bench.load(fields, status: 206, body: "01234", for: ["Range": range])
            bench.server.respond(416)

            let response = try await bench.send(["Range": row.range])

            #expect(response.isHit == (row.body != nil))
            #expect(response.status == (row.body == nil ? 416 : 206))
            if let body = row.body { #expect(response.body == body) }
        }
    }

    /// The same in response to a request for the end, in a complete message: the content ends with it.
    @Test(
        arguments: Roles.all,
        [
            ("bytes=-5", "01234", "bytes 4-8/9"), ("bytes=6-8", "234", "bytes 6-8/9"),
            ("bytes=6-", "234", "bytes 6-8/9"), ("bytes=-1", "4", "bytes 8-8/9"), ("bytes=9-9", nil, nil),
            ("bytes=-6", nil, nil), ("bytes=3-", nil, nil),
        ] as [(String, String?, String?)])
    func `a complete message with the end of the content determines its length`(
        role: CacheRole, row: (range: String, body: String?, place: String?)
    ) async throws {
        for range in ["bytes=-5", "bytes=4-"] {
            let bench = Bench(role)
            try await bench.load(
                ["Cache-Control": "max-age=3600", "Content-Range": "bytes 4-9/10", "Content-Length": "5"], status: 206,
                body: "01234", for: ["Range": range])
            bench.server.respond(416)

            let response = try await bench.send(["Range": row.range])

            #expect(response.isHit == (row.body != nil))
            #expect(response.status == (row.body == nil ? 416 : 206))
            if let body = row.body {
                #expect(response.body == body)
                #expect(response.fields["Content-Range"] == row.place)
            }
        }
    }

    @Test(arguments: Roles.all, ["\"v\"", nil]) func `a message shorter than its range never completes a response`(
        role: CacheRole, tag: String?
    ) async throws {
        for (place, range) in [("0-9/10", "bytes=0-"), ("4-9/10", "bytes=4-")] {
            let bench = Bench(role)
            var fields: HTTPFields = ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-3/*"]
            fields["ETag"] = tag
            try await bench.load(fields, status: 206, body: "0123", for: ["Range": "bytes=0-3"])
            (fields["Content-Range"], fields["Content-Length"]) = ("bytes \(place)", "5")
            try await bench.load(fields, status: 206, body: "01234", for: ["Range": range])

            #expect(await bench.stored() != nil)
            #expect(try await bench.find() == nil)
        }
    }

    /// Section 3.4: the stored fields are updated according to section 3.2.
    @Test(arguments: Roles.all, [true, false])
    func `a combined part has the fields of both messages, the newer taking precedence`(
        role: CacheRole, isInOrder: Bool
    ) async throws {
        let bench = Bench(role)
        let parts = isInOrder ? [0...3, 4...9] : [4...9, 0...3]
        try await load(
            parts[0], ["Cache-Control": "max-age=60", "ETag": "\"v\"", "Content-Type": "a/b", "A": "1", "B": "1"],
            in: bench)
        bench.advance(59)
        try await load(parts[1], ["ETag": "\"v\"", "B": "2"], in: bench)
        bench.advance(59)

        let response = try await bench.send()

        #expect(response.isHit)
        #expect(response.body == "0123456789")
        #expect(response.fields["Content-Type"] == "a/b")
        #expect(response.fields["A"] == "1")
        #expect(response.fields.values(of: "B") == ["2"])
        #expect(response.fields.values(of: "Date") == [date(59)])
        #expect(response.fields["Content-Length"] == "10")
        #expect(response.fields["Age"] == "59")
    }

    @Test(arguments: Roles.all) func `directives of the stored part also restrict the combined part`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await load(0...3, ["Cache-Control": "no-cache", "ETag": "\"v\""], in: bench)
        // Alone, the second part would be fresh by heuristics.
        try await load(4...9, ["ETag": "\"v\"", "Last-Modified": date(-10_000), "Date": date(0)], in: bench)

        let response = try await bench.load(["ETag": "\"v\""], status: 304, body: "")

        #expect(response.source == .revalidated)
        #expect(response.body == "0123456789")
    }

    @Test(arguments: Roles.all) func `parts are not combined beyond the body limit`(role: CacheRole) async throws {
        for (limit, isWhole) in [(9, false), (10, true)] {
            let bench = Bench(role, limit: limit)
            try await load(0...3, in: bench)
            try await load(4...9, in: bench)

            #expect(try await bench.find()?.body == (isWhole ? "0123456789" : nil))
            #expect(await bench.stored()?.body.count == (isWhole ? 10 : 6))
            #expect(try await bench.send(["Range": "bytes=4-9"]).isHit)
        }
    }

    @Test(arguments: Roles.all) func `parts of different requests are not combined`(role: CacheRole) async throws {
        let bench = Bench(role)
        let fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"v\"", "Vary": "Accept"]
        try await load(0...3, fields, for: ["Accept": "a"], in: bench)
        try await load(4...9, fields, for: ["Accept": "b"], in: bench)

        for (accept, range) in [("a", "bytes=0-3"), ("b", "bytes=4-9")] {
            #expect(try await bench.send(["Accept": accept, "Range": range]).isHit)
            #expect(
                try await bench.send(["Accept": accept, "Range": "bytes=3-4", "Cache-Control": "only-if-cached"]).status
                    == 504)
        }
    }

    @Test(
        arguments: Roles.all,
        [
            (["ETag": "\"v\""], "\"v\"", true), (["ETag": "\"v\""], "\"w\"", false), ([:], "\"v\"", false),
            (["Last-Modified": date(-60), "Date": date(0)], date(-60), true),
            (["Last-Modified": date(-59), "Date": date(0)], date(-59), false),
        ] as [(HTTPFields, String, Bool)])
    func `a part serves a range whose condition holds`(
        role: CacheRole, row: (stored: HTTPFields, condition: String, isServed: Bool)
    ) async throws {
        let bench = Bench(role)
        try await load(2...5, HTTPFields(row.stored.fields + [.init("Cache-Control", "max-age=60")]), in: bench)
        bench.server.respond(200, ["Cache-Control": "max-age=60"], body: "whole")

        let response = try await bench.send(["Range": "bytes=3-4", "If-Range": row.condition])

        #expect(response.isHit == row.isServed)
        #expect(response.body == (row.isServed ? "34" : "whole"))
        if !row.isServed {
            #expect(bench.server.requests.last?.fields == ["Range": "bytes=3-4", "If-Range": row.condition])
        }
    }
}
