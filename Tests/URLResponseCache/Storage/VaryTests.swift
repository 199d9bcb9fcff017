import AlcedoCore
import AlcedoDiskCache
import AlcedoHTTP
import AlcedoURLResponseCache
import FoundationEssentials
import TestSupport
import Testing

/// RFC 9111 section 4.1.
@Suite(.timeLimit(.minutes(10)))
struct VaryTests {
    @Test(
        arguments: Roles.all,
        [
            (["Accept": "a"], ["Accept": "a"], true), (["Accept": "a"], ["accept": "a"], true),
            (["Accept": "a"], ["Accept": "b"], false), (["Accept": "a"], [:], false), ([:], ["Accept": "a"], false),
            (["Accept": ""], [:], false), ([:], [:], true), (["Accept": "a"], ["Accept": "A"], false),
            (["Accept": "a", "X": "1"], ["Accept": "a", "X": "2"], true),
            (["Accept": "a", "Foo": "1"], ["Accept": "a"], false),
            (["Accept": "a", "Foo": "1"], ["Foo": "1", "Accept": "a"], true),
            (["Accept": "1", "Foo": "a"], ["Accept": "a", "Foo": "1"], false),
            // Several lines are one list, and whitespace around commas is ignored.
            (["Accept": "a", "accept": "b"], ["Accept": "a, b"], true),
            (["Accept": "a,b"], ["Accept": " a ,\tb "], true), (["Accept": "a, b"], ["Accept": "b, a"], false),
            (["Accept": "a b"], ["Accept": "a  b"], false), (["Accept": "\"a,b\""], ["Accept": "\"a, b\""], false),
            // Weighted lists: case, order and the form of a weight do not matter.
            (["Accept-Language": "de, en"], ["Accept-Language": "EN,de"], true),
            (["Accept-Language": "de;q=0.5, en"], ["Accept-Language": "en, de; q=0.50"], true),
            (["Accept-Language": "de;q=0.5, en"], ["Accept-Language": "de, en;q=0.5"], false),
            (["Accept-Language": "de;q=1.0"], ["Accept-Language": "de"], true),
            (["Accept-Language": "de"], ["Accept-Language": "de-CH"], false),
            (["Accept-Language": "de;q=x"], ["Accept-Language": "de"], false),
            (["Accept-Encoding": "gzip, br"], ["Accept-Encoding": "BR, gzip"], true),
        ] as [(HTTPFields, HTTPFields, Bool)])
    func `a response serves requests with the same values of the named fields`(
        role: CacheRole, row: (first: HTTPFields, second: HTTPFields, isServed: Bool)
    ) async throws {
        let bench = Bench(role)
        let fields: HTTPFields = [
            "Cache-Control": "max-age=60", "Vary": "accept,Foo", "vary": "Accept-Language , ACCEPT-ENCODING",
        ]
        try await bench.load(fields, for: row.first)
        bench.server.respond(200, body: "other")

        let received = try await bench.send(row.second)

        #expect(received.isHit == row.isServed)
        if !row.isServed {
            #expect(received.body == "other")
            #expect(received.cacheStatus == "alcedo; fwd=vary-miss; fwd-status=200; stored")
        }
    }

    @Test(arguments: Roles.all) func `a hundred variants are stored side by side`(role: CacheRole) async throws {
        let bench = Bench(role)
        for index in 0..<100 {
            try await bench.load(
                ["Cache-Control": "max-age=60", "Vary": "Accept"], body: "\(index)", for: ["Accept": "\(index)"])
        }

        for index in 0..<100 { #expect(try await bench.send(["Accept": "\(index)"]).body == "\(index)") }
        #expect(bench.server.requests.count == 100)
    }

    @Test(arguments: Roles.all) func `the newest of several matching variants is served`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await bench.load(
            ["Cache-Control": "max-age=600", "Vary": "Accept"], body: "old", for: ["Accept": "a", "Foo": "1"])
        bench.advance(10)
        try await bench.load(
            ["Cache-Control": "max-age=600", "Vary": "Foo"], body: "new", for: ["Accept": "b", "Foo": "1"])
        #expect(try await bench.send(["Accept": "a", "Foo": "1"]).body == "new")
        #expect(try await bench.send(["Accept": "a", "Foo": "2"]).body == "old")
        #expect(try await bench.send(["Accept": "c", "Foo": "1"]).body == "new")

        bench.advance(10)
        try await bench.load(
            ["Cache-Control": "max-age=600"], body: "newest", for: ["Accept": "d", "Foo": "3"])
        #expect(try await bench.send(["Accept": "a", "Foo": "1"]).body == "newest")
        #expect(bench.server.requests.count == 3)
    }

    /// Found by the random histories: a server that changes the fields it varies by leaves copies of one response.
    @Test(arguments: Roles.all) func `a response that must not be stored leaves no copy behind`(role: CacheRole)
        async throws
    {
        let bench = Bench(role)
        func fields(_ control: String, _ name: String) -> HTTPFields {
            ["Cache-Control": control, "Vary": name, "ETag": "\"v\""]
        }
        try await bench.load(fields("max-age=600", "Accept"), body: "copy", for: ["Accept": "a", "Foo": "1"])
        bench.advance(10)
        try await bench.load(fields("max-age=600", "Foo"), body: "copy", for: ["Accept": "b", "Foo": "1"])

        bench.server.respond(304, fields("no-store", "Foo"))
        let requested: HTTPFields = ["Accept": "a", "Foo": "1", "Cache-Control": "no-cache"]
        #expect(try await bench.send(requested).body == "copy")

        bench.server.respond(200, body: "new")
        #expect(try await bench.send(["Accept": "a", "Foo": "1"]).body == "new")
    }

    @Test(arguments: Roles.all) func `the newest variant is the one with the latest Date, not the last received`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await bench.load(
            ["Cache-Control": "max-age=600", "Vary": "Accept", "Date": date(-5)], body: "young",
            for: ["Accept": "a", "Foo": "1"])
        try await bench.load(
            ["Cache-Control": "max-age=600", "Vary": "Foo", "Date": date(-50)], body: "old",
            for: ["Accept": "b", "Foo": "1"])

        #expect(try await bench.send(["Accept": "a", "Foo": "1"]).body == "young")
    }

    /// More different fields than are kept: the oldest is removed, and no wrong response is served.
    @Test(arguments: Roles.all) func `responses that vary by different fields each time are served correctly`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        for index in 0..<33 {
            try await bench.load(
                ["Cache-Control": "max-age=600", "Vary": "F\(index)"], body: "\(index)", for: ["F\(index)": "x"])
            bench.advance(1)
        }

        for index in 1..<33 { #expect(try await bench.send(["F\(index)": "x"]).body == "\(index)") }
        #expect(bench.server.requests.count == 33)
        // The oldest is a miss, and so is a request without a matching variant.
        bench.server.respond(200, ["Cache-Control": "no-store"], body: "asked")
        #expect(try await bench.send(["F0": "x"]).body == "asked")
        for index in 1..<33 {
            bench.server.respond(200, ["Cache-Control": "no-store"], body: "asked")
            #expect(try await bench.send(["F\(index)": "y"]).body == "asked")
        }
        // A response that must not be stored has kept the responses to other requests.
        for index in 1..<33 { #expect(try await bench.send(["F\(index)": "x"]).body == "\(index)") }
    }

    @Test(arguments: Roles.all) func `a response with other field names does not hide the others`(role: CacheRole)
        async throws
    {
        let bench = Bench(role)
        let life = "max-age=600"
        try await bench.load(["Cache-Control": life, "Vary": "A"], body: "a", for: ["A": "1", "B": "0"])
        bench.advance(1)
        try await bench.load(["Cache-Control": life, "Vary": "A, B"], body: "ab", for: ["A": "2", "B": "2"])
        bench.advance(1)
        try await bench.load(["Cache-Control": life, "Vary": "b, a"], body: "ba", for: ["A": "3", "B": "3"])

        #expect(try await bench.send(["A": "1", "B": "9"]).body == "a")
        #expect(try await bench.send(["A": "2", "B": "2"]).body == "ab")
        #expect(try await bench.send(["A": "3", "B": "3"]).body == "ba")
        #expect(try await bench.load([:], body: "new", for: ["A": "3", "B": "2"]).body == "new")
    }

    @Test(arguments: Roles.all) func `a response that varies by everything is never reused`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60"], body: "kept")
        try await bench.load(
            ["Cache-Control": "max-age=60", "Vary": "*"], body: "everything", for: ["Cache-Control": "no-cache"])

        #expect(try await bench.load([:], body: "asked").body == "asked")
    }

    @Test func `a response with an excessive list of names is never reused`() async throws {
        let bench = Bench()
        let names = (0..<33).map { "F\($0)" }.joined(separator: ", ")

        #expect(try await !bench.load(["Cache-Control": "max-age=60", "Vary": names]).isStored)
    }

    @Test func `a private cache separates the accounts of one user`() async throws {
        let bench = Bench()
        for name in ["one", "two"] {
            try await bench.load(["Cache-Control": "max-age=60"], body: name, for: ["Authorization": name])
        }

        #expect(try await bench.send(["Authorization": "one"]).body == "one")
        #expect(try await bench.send(["Authorization": "two"]).body == "two")
        #expect(try await bench.load([:], body: "nobody").body == "nobody")
    }

    @Test func `a response for everyone is shared, whichever user requested it first`() async throws {
        for role in Roles.all {
            let bench = Bench(role)
            try await bench.load(["Cache-Control": "max-age=60, public"], body: "all", for: ["Authorization": "one"])

            #expect(try await bench.send(["Authorization": "two"]).body == "all")
            #expect(try await bench.send().body == "all")
        }
    }

    @Test(
        arguments: Roles.all,
        [
            "Cookie", "X-Auth-Token", "x-api-key", "X-Amz-Security-Token", "Origin", "User-Agent", "Sec-CH-Secret",
            "If-None-Match",
        ])
    func `no file holds the value of a field that may be a secret`(role: CacheRole, name: String) async throws {
        let directory = try TemporaryDirectory()
        let disk = FileDiskCache(directory: directory.url)
        let bench = Bench(role, store: DataResponseStore(disk as any MeasurableDataCache))
        let request: HTTPFields = [name: "secret-4711", "Accept": "image/preferred"]
        let fields: HTTPFields = ["Cache-Control": "public, max-age=60", "Vary": "\(name), Accept"]

        try await bench.load(fields, for: request)
        await bench.store.flush()

        let files = try directory.files()
        #expect(files.contains { $0.contains("image/preferred") })
        #expect(!files.contains { $0.contains("4711") })
        #expect(try await bench.send(request).isHit)
        bench.server.respond(200, body: "other")
        #expect(try await bench.send([name: "secret-4712", "Accept": "image/preferred"]).body == "other")
    }
}

extension TemporaryDirectory {
    /// Returns the contents of all files, with a replacement character for each invalid byte.
    fileprivate func files() throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: url.path)
        return names.compactMap { try? Data(contentsOf: url.appending(path: $0)) }
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
