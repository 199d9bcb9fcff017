import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// The behavior of partial responses, cookies, variants and dates that the cache's own tests cover, seen from outside.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct RuleTests {
    private static let digits = "0123456789"

    /// Returns an origin of ten digits that supports ranges. The connection of the first response is cut after this
    /// many bytes.
    private func origin(_ fields: HTTPFields = [:], cutAfter cut: Int? = nil) throws -> LoopbackOrigin {
        try LoopbackOrigin { request in
            var reply = OriginReply(fields: fields, body: Data(Self.digits.utf8))
            reply.fields["Cache-Control"] = "max-age=3600"
            if let range = request.fields["Range"].flatMap({ ByteRange($0)?.resolved(in: 10) }) {
                reply.status = 206
                reply.body = Data(reply.body[range])
                reply.fields["Content-Range"] = ContentRange(bytes: range, completeCount: 10).text
            }
            guard request.number == 1, let cut else { return reply }
            return reply.cutting(at: .afterBody(cut))
        }
    }

    private func call(_ id: Int, _ origin: LoopbackOrigin, _ headers: [String]...) -> CallLine {
        var call = CallLine(id, origin.url(for: "/"))
        call.headers = headers
        return call
    }

    // MARK: Parts

    @Test(
        arguments: [
            ("bytes=-5", "bytes=-5", "56789"), ("bytes=-5", "bytes=5-", "56789"), ("bytes=-5", "bytes=6-8", "678"),
            ("bytes=-5", "bytes=6-", "6789"), ("bytes=-5", "bytes=-1", "9"), ("bytes=0-4", "bytes=0-4", "01234"),
            ("bytes=5-", "bytes=5-99", "56789"), (nil, "bytes=0-1", "01"), (nil, "bytes=1-", "123456789"),
            (nil, "bytes=-1", "9"),
        ] as [(String?, String, String)])
    func `a range of a stored response is served from the store`(stored: String?, range: String, text: String)
        async throws
    {
        let origin = try origin()
        defer { origin.stop() }
        let client = try Conversation()
        var first = call(1, origin)
        if let stored { first.headers = [["Range", stored]] }
        _ = try await client.response(to: first)

        let response = try await client.response(to: call(2, origin, ["Range", range]))

        #expect(response.status == 206)
        #expect(response.text == text)
        #expect(response.from_cache == true)
        #expect(origin.requests.count == 1)
    }

    @Test(arguments: ["bytes=3-5", "bytes=4-", "bytes=-6", "bytes=0-1,5-6", "lines=5-6"])
    func `a range outside the stored part is sent to the origin`(range: String) async throws {
        let origin = try origin()
        defer { origin.stop() }
        let client = try Conversation()
        _ = try await client.response(to: call(1, origin, ["Range", "bytes=-5"]))

        #expect(try await client.response(to: call(2, origin, ["Range", range])).from_cache == false)
        #expect(origin.requests.last?.fields["Range"] == range)
    }

    @Test(arguments: [true, false]) func `a full request completes a part that another process stored`(
        hasTag: Bool
    ) async throws {
        let now = Date()
        let changed = HTTPDate.format(now - 3_600)
        let fields: HTTPFields = hasTag ? ["ETag": "\"v\""] : ["Last-Modified": changed, "Date": HTTPDate.format(now)]
        let origin = try origin(fields)
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let calls = [call(1, origin, ["Range", "bytes=0-4"]), call(2, origin), call(3, origin)]
        var responses: [ResponseLine] = []
        for call in calls {
            let client = try Conversation(directory: directory.url)
            responses.append(try await client.response(to: call))
            #expect(try await client.end().status == 0)
        }

        #expect(responses.map(\.status) == [206, 200, 200])
        #expect(responses.map(\.text) == ["01234", Self.digits, Self.digits])
        #expect(responses.map(\.from_cache) == [false, false, true])
        #expect(origin.requests.count == 2)
        #expect(origin.requests.last?.fields["Range"] == "bytes=5-")
        #expect(origin.requests.last?.fields["If-Range"] == (hasTag ? "\"v\"" : changed))
    }

    @Test func `a truncated response is completed`() async throws {
        let origin = try origin(["ETag": "\"v\""], cutAfter: 4)
        defer { origin.stop() }
        let client = try Conversation()
        #expect(try await client.response(to: call(1, origin)).error_kind == "connectionLost")

        let response = try await client.response(to: call(2, origin))

        #expect(response.status == 200)
        #expect(response.text == Self.digits)
        #expect(origin.requests.last?.fields["Range"] == "bytes=4-")
    }

    // MARK: Fields

    @Test(arguments: [("private", ["a=b; Path=/", "c=d"]), ("shared", [])])
    func `cookies are served from a private store only`(profile: String, cookies: [String]) async throws {
        var fields: HTTPFields = ["Set-Cookie": "a=b; Path=/", "Set-Cookie2": "e=f"]
        fields.append("Set-Cookie", "c=d")
        let origin = try origin(fields)
        defer { origin.stop() }
        let client = try Conversation(profile: profile)
        #expect(try await client.response(to: call(1, origin)).values("Set-Cookie") == ["a=b; Path=/", "c=d"])

        let response = try await client.response(to: call(2, origin))

        #expect(response.from_cache == true)
        #expect(response.values("Set-Cookie") == cookies)
        #expect(response.values("Set-Cookie2") == (cookies.isEmpty ? [] : ["e=f"]))
    }

    @Test(
        arguments: [
            ("Accept-Language", ["en, de"], ["de, en"], true), ("Accept-Language", ["en, de"], ["eN, De"], true),
            ("Accept-Language", ["en, de"], [" en ,   de"], true), ("Accept-Language", ["en, de"], ["en", "de"], true),
            // RFC 9111 section 4.1: fields match when they have the same meaning, not when one response would suit
            // both.
            ("Accept-Language", ["en, de"], ["fr;q=0.5, de;q=1.0"], false), ("Foo", ["1, 2"], ["1", "2"], true),
            ("Foo", ["1,2"], [" 1, 2 "], true), ("Foo", ["1"], ["2"], false), ("Foo", ["1"], [], false),
            ("Foo", [], ["1"], false),
        ] as [(String, [String], [String], Bool)])
    func `a variant serves requests whose fields have the same meaning`(
        name: String, first: [String], second: [String], isServed: Bool
    ) async throws {
        let origin = try origin(["Vary": name, "Content-Language": "de"])
        defer { origin.stop() }
        let client = try Conversation()
        let calls = [first, second].enumerated().map { index, values in
            var call = call(index + 1, origin)
            call.headers = values.map { [name, $0] }
            return call
        }
        _ = try await client.response(to: calls[0])

        #expect(try await client.response(to: calls[1]).from_cache == isServed)
    }

    /// RFC 9111 section 4.3.2: without `Last-Modified` the Date of the response counts.
    @Test(arguments: [(0, 304), (1, 304), (-1, 200), (-3_000, 200)])
    func `a date condition applies to a stored response without Last-Modified`(
        seconds: Int, status: Int
    ) async throws {
        let date = Date()
        let origin = try origin(["Date": HTTPDate.format(date)])
        defer { origin.stop() }
        let client = try Conversation()
        _ = try await client.response(to: call(1, origin))

        let since = HTTPDate.format(date + TimeInterval(seconds))
        let response = try await client.response(to: call(2, origin, ["If-Modified-Since", since]))

        #expect(response.status == status)
        #expect(response.from_cache == true)
        #expect(origin.requests.count == 1)
    }
}
