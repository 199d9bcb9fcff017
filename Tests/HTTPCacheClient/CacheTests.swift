import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// The behavior that the cache's own tests cover, seen from outside: one test per mode, and processes that share a
/// directory.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct CacheTests {
    /// Returns an origin whose responses differ, are fresh for an hour, and have a validator.
    private func origin() throws -> LoopbackOrigin {
        try LoopbackOrigin { request in
            if request.fields["If-None-Match"] == "\"v\"" {
                return .status(304, fields: ["ETag": "\"v\"", "Cache-Control": "max-age=3600"])
            }
            return OriginReply(
                fields: ["ETag": "\"v\"", "Cache-Control": "max-age=3600"], body: Data("\(request.number)".utf8))
        }
    }

    private func call(_ id: Int, _ origin: LoopbackOrigin, cache: String = "default") -> CallLine {
        var call = CallLine(id, origin.url(for: "/"))
        call.cache = cache
        return call
    }

    @Test func `a fresh response is not requested again`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let client = try Conversation()

        let texts = [
            try await client.response(to: call(1, origin)).text, try await client.response(to: call(2, origin)).text,
        ]

        #expect(texts == ["1", "1"])
        #expect(origin.requests.count == 1)
    }

    @Test func `each process starts empty in its own directory`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        for number in 1...2 {
            #expect(try await Conversation().response(to: call(1, origin)).text == "\(number)")
        }
    }

    @Test func `a response reports whether it comes from the store`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let client = try Conversation()

        #expect(try await client.response(to: call(1, origin)).from_cache == false)
        #expect(try await client.response(to: call(2, origin)).from_cache == true)
        #expect(try await client.response(to: call(3, origin, cache: "no-cache")).from_cache == true)
        #expect(try await client.response(to: call(4, origin, cache: "reload")).from_cache == false)
    }

    @Test(arguments: ["max-age=0, must-revalidate", "max-age=60, no-cache"])
    func `a response that must not be used without its server becomes 504`(control: String) async throws {
        let origin = try LoopbackOrigin { request in
            let reply = OriginReply(fields: ["Cache-Control": control, "X": "origin"], body: Data("body".utf8))
            return request.number == 1 ? reply : reply.cutting(at: .beforeHead)
        }
        defer { origin.stop() }
        let client = try Conversation()
        #expect(try await client.response(to: call(1, origin)).text == "body")

        let response = try await client.response(to: call(2, origin))

        #expect(response.status == 504)
        #expect(response.text == "")
        #expect(response.error == nil)
        #expect(response.from_cache == nil)
        #expect(response.values("X") == [])
        #expect(response.values("Cache-Status") == ["alcedo; fwd=stale"])
        // Nothing is stored for another URL, which fails as before.
        var other = call(3, origin)
        other.url += "other"
        #expect(try await client.response(to: other).error_kind == "connectionLost")
    }

    @Test func `a reload of a fresh immutable response stays in the cache`() async throws {
        let origin = try LoopbackOrigin { _ in
            OriginReply(fields: ["Cache-Control": "max-age=60, immutable", "ETag": "\"v\""], body: Data("body".utf8))
        }
        defer { origin.stop() }
        let client = try Conversation()
        _ = try await client.response(to: call(1, origin))

        #expect(try await client.response(to: call(2, origin, cache: "no-cache")).from_cache == true)
        #expect(origin.requests.count == 1)
    }

    @Test(
        arguments: [
            // The stored response is "1". A third call shows what is stored afterwards.
            ("default", "1", 1, "1"), ("no-cache", "1", 2, "1"), ("reload", "2", 2, "2"), ("force-cache", "1", 1, "1"),
            ("only-if-cached", "1", 1, "1"), ("no-store", "2", 2, "1"),
        ])
    func `each mode reads and stores as documented`(
        mode: String, text: String, count: Int, afterwards: String
    ) async throws {
        let origin = try origin()
        defer { origin.stop() }
        let client = try Conversation()
        _ = try await client.response(to: call(1, origin))

        #expect(try await client.response(to: call(2, origin, cache: mode)).text == text)
        #expect(origin.requests.count == count)
        #expect(try await client.response(to: call(3, origin)).text == afterwards)

        let fields = origin.requests.last?.fields
        if mode == "no-cache" { #expect(fields?["If-None-Match"] == "\"v\"") }
        if mode == "reload" || mode == "no-store" {
            #expect(fields?["If-None-Match"] == nil)
            #expect(fields?["Cache-Control"] == "no-cache")
        }
    }

    @Test func `only-if-cached never uses the network`() async throws {
        let origin = try origin()
        defer { origin.stop() }

        let response = try await Conversation().response(to: call(1, origin, cache: "only-if-cached"))

        #expect(response.error_kind == "notCached")
        #expect(origin.requests.isEmpty)
    }

    @Test func `the next process uses a directory's responses`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let directory = try TemporaryDirectory()

        for number in 1...3 {
            let client = try Conversation(directory: directory.url)
            #expect(try await client.response(to: call(number, origin)).text == "1")
            #expect(try await client.end().status == 0)
        }

        #expect(origin.requests.count == 1)
    }

    @Test func `a shared cache stores no private responses`() async throws {
        let origin = try LoopbackOrigin { request in
            OriginReply(fields: ["Cache-Control": "private, max-age=3600"], body: Data("\(request.number)".utf8))
        }
        defer { origin.stop() }

        for (profile, second) in [("shared", "2"), ("private", "3")] {
            let client = try Conversation(profile: profile)
            _ = try await client.response(to: call(1, origin))
            #expect(try await client.response(to: call(2, origin)).text == second)
        }
    }
}
