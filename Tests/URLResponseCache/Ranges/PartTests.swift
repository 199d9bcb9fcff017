import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

/// RFC 9111 sections 3.3 and 3.4: partial responses.
@Suite(.timeLimit(.minutes(10)))
struct PartTests {
    private static let whole = "0123456789"

    /// Loads a part of the ten digits.
    private func load(
        _ range: ClosedRange<Int>, of count: String = "10", tag: String? = "\"v\"", in bench: Bench, body: String? = nil
    ) async throws {
        var fields: HTTPFields = [
            "Cache-Control": "max-age=60", "Content-Range": "bytes \(range.lowerBound)-\(range.upperBound)/\(count)",
        ]
        fields["ETag"] = tag
        let digits = Array(Self.whole)[range]
        fields["Content-Length"] = "\(range.count)"
        try await bench.load(
            fields, status: 206, body: body ?? String(digits),
            for: ["Range": "bytes=\(range.lowerBound)-\(range.upperBound)"])
    }

    @Test(
        arguments: Roles.all,
        [
            ("bytes=2-5", "2345", "bytes 2-5/10"), ("bytes=3-4", "34", "bytes 3-4/10"),
            ("bytes=5-5", "5", "bytes 5-5/10"),
            ("bytes=0-5", nil, nil), ("bytes=2-6", nil, nil), ("bytes=2-", nil, nil), ("bytes=-2", nil, nil),
            ("bytes=2-99", nil, nil), ("bytes=7-8", nil, nil),
        ] as [(String, String?, String?)])
    func `a stored part serves the ranges within it`(
        role: CacheRole, row: (range: String, body: String?, place: String?)
    ) async throws {
        let bench = Bench(role)
        try await load(2...5, in: bench)
        bench.server.respond(206, ["Content-Range": "bytes 0-0/10"], body: "?")

        let response = try await bench.send(["Range": row.range])

        #expect(response.isHit == (row.body != nil))
        #expect(response.status == 206)
        #expect(response.body == row.body ?? "?")
        if let place = row.place {
            #expect(response.fields["Content-Range"] == place)
            #expect(response.fields["Content-Length"] == "\(response.body.utf8.count)")
        } else {
            #expect(response.cacheStatus == "alcedo; fwd=partial; fwd-status=206; stored")
        }
    }

    @Test(arguments: Roles.all) func `a part of content with unknown length has an unknown end`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await load(5...9, of: "*", in: bench)

        #expect(try await bench.send(["Range": "bytes=6-7"]).fields["Content-Range"] == "bytes 6-7/*")
        for range in ["bytes=6-", "bytes=-1", "bytes=6-10"] {
            bench.server.respond(416)
            #expect(try await !bench.send(["Range": range]).isHit)
        }
    }

    @Test(arguments: Roles.all) func `a part is never served as the whole`(role: CacheRole) async throws {
        for range in [0...3, 4...9] {
            let bench = Bench(role)
            try await load(range, tag: nil, in: bench)

            let response = try await bench.load([:], body: Self.whole)

            #expect(response.status == 200)
            #expect(response.body == Self.whole)
            #expect(!response.isHit)
            // The second request is for the whole, without a condition.
            #expect(bench.server.requests.last?.fields == HTTPFields())
        }
    }

    @Test(arguments: Roles.all) func `a part is not used for HEAD or for the caller's condition`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await load(0...3, in: bench)
        bench.server.respond(200, body: "")
        #expect(try await !bench.send(method: .head).isHit)
        bench.server.respond(304, ["ETag": "\"v\""], body: "")
        #expect(try await bench.send(["If-None-Match": "\"v\""]).status == 304)
        #expect(bench.server.requests.count == 3)
        #expect(bench.server.requests.last?.fields == ["If-None-Match": "\"v\""])
    }

    @Test(
        arguments: Roles.all,
        [
            ([0...3, 4...9], true), ([4...9, 0...3], true), ([0...5, 3...9], true), ([3...9, 0...5], true),
            ([0...2, 7...9, 2...8], false), ([0...3, 2...5, 6...9], true), ([0...9], true), ([2...3, 0...9], true),
            ([0...3, 5...9], false), ([0...3, 4...8], false), ([1...4, 5...9], false),
        ] as [([ClosedRange<Int>], Bool)])
    func `adjacent parts are combined, and become the whole when nothing is missing`(
        role: CacheRole, row: (parts: [ClosedRange<Int>], isWhole: Bool)
    ) async throws {
        let bench = Bench(role)
        for part in row.parts { try await load(part, in: bench) }

        let response = try await bench.find()

        #expect(response?.body == (row.isWhole ? Self.whole : nil))
        if row.isWhole {
            #expect(response?.status == 200)
            #expect(response?.fields["Content-Length"] == "10")
            #expect(response?.fields["Content-Range"] == nil)
        }
        // The newest part is stored at its position in any case.
        let last = try #require(row.parts.last)
        let range = try await bench.send(["Range": "bytes=\(last.lowerBound)-\(last.upperBound)"])
        #expect(range.isHit)
        #expect(range.body == String(Array(Self.whole)[last]))
    }

    @Test(
        arguments: Roles.all,
        [("\"v\"", "\"w\""), ("W/\"v\"", "W/\"v\""), (nil, nil), ("\"v\"", nil), (nil, "\"v\"")] as [(String?, String?)]
    )
    func `parts that may have different content are not combined`(
        role: CacheRole, row: (first: String?, second: String?)
    ) async throws {
        let bench = Bench(role)
        try await load(0...3, tag: row.first, in: bench)
        try await load(4...9, tag: row.second, in: bench)

        #expect(try await bench.find()?.body == nil)
        // The newer one is stored.
        #expect(try await bench.send(["Range": "bytes=4-9"]).isHit)
    }

    @Test(arguments: Roles.all) func `parts with different total lengths are not combined`(role: CacheRole) async throws
    {
        let bench = Bench(role)
        try await load(0...3, of: "11", in: bench)
        try await load(4...9, of: "10", in: bench)

        #expect(try await bench.find()?.body == nil)
    }

    @Test(arguments: Roles.all) func `a part of a stored whole response changes nothing`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60", "ETag": "\"v\""], body: Self.whole)
        bench.server.respond(
            206, ["Cache-Control": "max-age=60", "ETag": "\"v\"", "Content-Range": "bytes 0-1/10"], body: "01")
        try await bench.send(["Range": "bytes=0-1", "Cache-Control": "no-cache"])

        #expect(try await bench.send().body == Self.whole)
    }

    @Test(
        arguments: Roles.all,
        [
            (["Content-Range": "bytes 0-3/10"], ""), (["Content-Range": "bytes 0-3/10"], "01234"),
            (["Content-Range": "bytes 3-0/10"], "0123"), (["Content-Range": "bytes */10"], "0123"), ([:], "0123"),
            (["Content-Range": "bytes 0-3/10", "Content-Encoding": "gzip"], "0123"),
            (["Content-Type": "multipart/byteranges; boundary=x"], "--x"),
            (["Content-Range": "bytes 0-3/10", "content-range": "bytes 0-3/10"], "0123"),
        ] as [(HTTPFields, String)])
    func `a part with an inconsistent Content-Range is passed on and not stored`(
        role: CacheRole, row: (fields: HTTPFields, body: String)
    ) async throws {
        let bench = Bench(role)
        let fields = HTTPFields(
            row.fields.fields + [.init("Cache-Control", "max-age=60"), .init("ETag", "\"v\"")])

        let response = try await bench.load(fields, status: 206, body: row.body, for: ["Range": "bytes=0-3"])

        #expect(response.status == 206)
        #expect(response.body == row.body)
        #expect(await bench.stored() == nil)
    }

    @Test(arguments: Roles.all) func `a 416 is passed on and keeps the stored response`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await load(0...3, in: bench)
        let response = try await bench.load(
            ["Content-Range": "bytes */10"], status: 416, body: "", for: ["Range": "bytes=20-"])
        #expect(response.status == 416)

        #expect(try await bench.send(["Range": "bytes=0-1"]).isHit)
    }
}
