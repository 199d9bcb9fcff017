import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDownloader

@Suite(.timeLimit(.minutes(10)))
struct ResumeTests {
    private let body = sample(10_000)
    private let whole: HTTPFields = ["ETag": "\"a\"", "Content-Length": "10000"]

    /// A response that is truncated after this many bytes.
    private func broken(_ count: Int, _ fields: HTTPFields? = nil) -> Script.Response {
        .head(200, fields ?? whole, body.prefix(count), failing: .connectionLost)
    }

    private func rest(_ offset: Int, tag: String = "\"a\"") -> Script.Response {
        .head(206, ["ETag": tag, "Content-Range": "bytes \(offset)-9999/10000"], body.dropFirst(offset))
    }

    private func fetch(_ script: Script, attempts: Int = 3) async throws -> Download {
        try await HTTPFetcher.make(script) { $0.retries(attempts) }.fetch("http://h/a")
    }

    @Test func `an interrupted transfer resumes at its position`() async throws {
        let script = Script([broken(4_000), rest(4_000)])
        let download = try await fetch(script)
        #expect(download.data == body)
        #expect(download.head?.status == 200)
        #expect(download.head?.fields["Content-Length"] == "10000")
        #expect(script.ranges == [nil, "bytes=4000-"])
        #expect(script.requests.value.map { $0.fields["If-Range"] } == [nil, "\"a\""])
    }

    @Test func `a transfer may be interrupted repeatedly`() async throws {
        let again = Script.Response.head(
            206, ["ETag": "\"a\"", "Content-Range": "bytes 4000-9999/10000"], body[4_000..<7_000],
            failing: .timedOut)
        let script = Script([broken(4_000), again, rest(7_000)])
        #expect(try await fetch(script).data == body)
        #expect(script.ranges == [nil, "bytes=4000-", "bytes=7000-"])
    }

    @Test func `a body that ends early counts as an interruption`() async throws {
        let script = Script([.head(200, whole, body.prefix(4_000)), rest(4_000)])
        #expect(try await fetch(script).data == body)
    }

    @Test func `a server error in between changes nothing`() async throws {
        let script = Script([broken(4_000), .head(503, [:]), .failure(.cannotConnect), rest(4_000)])
        #expect(try await fetch(script, attempts: 4).data == body)
        #expect(script.ranges == [nil, "bytes=4000-", "bytes=4000-", "bytes=4000-"])
    }

    @Test func `changed content or a server without ranges restarts the transfer`() async throws {
        let other = sample(9_000, seed: 2)
        let script = Script([broken(4_000), .head(200, ["ETag": "\"b\""], other)])
        #expect(try await fetch(script).data == other)
        let same = Script([broken(4_000), .head(200, whole, body)])
        #expect(try await fetch(same).data == body)
        #expect(same.ranges == [nil, "bytes=4000-"])
    }

    @Test(arguments: [
        ("\"a\"", "bytes 3999-9999/10000"), ("\"a\"", "bytes 0-9999/10000"), ("\"a\"", "bytes 4000-9998/10000"),
        ("\"a\"", "bytes 4000-9999/*"), ("\"a\"", "bytes 4000-10000/10001"), ("\"b\"", "bytes 4000-9999/10000"),
        ("W/\"a\"", "bytes 4000-9999/10000"), ("", "bytes 4000-9999/10000"), ("\"a\"", "nonsense"),
    ])
    func `a part that does not fit is not appended`(tag: String, range: String) async throws {
        let fields: HTTPFields = ["ETag": tag, "Content-Range": range]
        let script = Script([
            broken(4_000), .head(206, fields, body.dropFirst(4_000)), .head(200, whole, body),
        ])
        #expect(try await fetch(script).data == body)
        #expect(script.ranges == [nil, "bytes=4000-", nil])
        // Not from a cache either, which might request a part once more.
        #expect(
            script.requests.value.map(\.cachePolicy)
                == [.useProtocolCachePolicy, .useProtocolCachePolicy, .reloadIgnoringLocalCacheData])
    }

    @Test func `a refused range restarts the transfer`() async throws {
        let script = Script([broken(4_000), .head(416, ["Content-Range": "bytes */10000"]), .head(200, whole, body)])
        #expect(try await fetch(script).data == body)
        #expect(script.ranges == [nil, "bytes=4000-", nil])
    }

    @Test func `a rest that is too short resumes again, and one that is too long is an error`() async throws {
        let fields: HTTPFields = ["ETag": "\"a\"", "Content-Range": "bytes 4000-9999/10000"]
        let short = Script([broken(4_000), .head(206, fields, body[4_000..<8_000]), rest(8_000)])
        #expect(try await fetch(short).data == body)
        let long = Script([broken(4_000), .head(206, fields, body.dropFirst(4_000) + Data([1])), rest(4_000)])
        #expect(try await failure { try await fetch(long) }.code == .transport(.invalidResponse))
    }

    @Test(
        arguments: [
            ["Content-Length": "10000"], ["ETag": "W/\"a\"", "Content-Length": "10000"],
            ["Last-Modified": "Tue, 14 Nov 2023 22:13:00 GMT", "Date": "Tue, 14 Nov 2023 22:13:20 GMT"],
            ["ETag": "\"a\"", "Accept-Ranges": "none"], ["ETag": "\"a\"", "Content-Encoding": "gzip"],
        ] as [HTTPFields])
    func `without a strong validator the transfer restarts`(fields: HTTPFields) async throws {
        let script = Script([broken(4_000, fields), .head(200, fields, body)])
        #expect(try await fetch(script).data == body)
        #expect(script.ranges == [nil, nil])
    }

    @Test func `a date serves as validator when it is old enough`() async throws {
        let date = "Tue, 14 Nov 2023 22:10:20 GMT"
        let fields: HTTPFields = [
            "Last-Modified": date, "Date": "Tue, 14 Nov 2023 22:13:20 GMT", "Content-Range": "bytes 4000-9999/10000",
        ]
        let script = Script([broken(4_000, fields), .head(206, fields, body.dropFirst(4_000))])
        #expect(try await fetch(script).data == body)
        #expect(script.requests.value[1].fields["If-Range"] == date)
    }

    @Test(arguments: [nil, "10000"]) func `a part that was not requested is accepted if it is the whole content`(
        length: String?
    ) async throws {
        var fields: HTTPFields = ["ETag": "\"a\"", "Content-Range": "bytes 0-9999/10000"]
        fields["Content-Length"] = length
        #expect(try await fetch(Script([.head(206, fields, body)])).data == body)
        // The body must have as many bytes as the range declares.
        let short = try await failure { try await fetch(Script([.head(206, fields, body.prefix(9_999))]), attempts: 1) }
        #expect(short.code == .transport(.connectionLost))
    }

    @Test func `the range of a whole encoded content counts other bytes`() async throws {
        let fields: HTTPFields = ["Content-Range": "bytes 0-4999/5000", "Content-Encoding": "aws-chunked"]
        #expect(try await fetch(Script([.head(206, fields, body)])).data == body)
    }

    @Test(arguments: [
        "bytes 1-9999/10000", "bytes 0-9998/10000", "bytes 0-9999/10001", "bytes 0-9999/*", "bytes */10000",
        "items 0-9999/10000", "bytes 0-9999/10000, bytes 0-9999/10000", "", nil,
    ])
    func `another part that was not requested is an error`(range: String?) async throws {
        var fields: HTTPFields = ["ETag": "\"a\"", "Content-Length": "10000"]
        fields["Content-Range"] = range
        let error = try await failure { try await fetch(Script([.head(206, fields, body)])) }
        #expect(error.code == .transport(.invalidResponse))
        let contradiction: HTTPFields = ["Content-Range": "bytes 0-9999/10000", "Content-Length": "9999"]
        let other = try await failure { try await fetch(Script([.head(206, contradiction, body)])) }
        #expect(other.code == .transport(.invalidResponse))
    }

    @Test func `a request for a range receives it`() async throws {
        let script = Script([rest(4_000)])
        let request = HTTPRequest(url: try #require(URL(string: "http://h/a")), fields: ["Range": "bytes=4000-"])
        let download = try await HTTPFetcher.make(script).fetch(request) { _ in }
        #expect(download.data == body.dropFirst(4_000))
        #expect(download.summary.head?.status == 206)
    }

    @Test(arguments: [("bytes=0-99", "bytes 100-199/10000"), ("bytes=5000-", "bytes 0-9998/10000")])
    func `another range than the requested one is an error`(requested: String, sent: String) async throws {
        let request = HTTPRequest(url: try #require(URL(string: "http://h/a")), fields: ["Range": requested])
        let script = Script([.head(206, ["Content-Range": sent], body.prefix(100))])
        let error = try await failure { try await HTTPFetcher.make(script).fetch(request) { _ in } }
        #expect(error.code == .transport(.invalidResponse))
    }

    @Test func `the last byte is reported at the end of the body, also to those who joined after it had arrived`()
        async throws
    {
        let steps = Watched<[DownloadProgress]>([])
        let last = DownloadProgress(received: 10_000, expected: 10_000)
        let ending = EndingBody(body) { #expect(!steps.value.contains(last)) }
        let transport = FakeTransport { [whole] in
            HTTPResponse(head: HTTPResponseHead(url: $0.url, status: 200, fields: whole), body: HTTPBody(ending))
        }
        let fetcher = HTTPFetcher.make(transport) { $0.progressInterval = .zero }
        let request = HTTPRequest(url: try #require(URL(string: "http://h/a")))
        _ = try await fetcher.fetch(request) { step in steps.update { $0.append(step) } }
        #expect(steps.value.last == last)
        #expect(steps.value.count { $0 == last } == 1)
    }

    @Test func `progress includes the kept bytes`() async throws {
        let steps = Watched<[DownloadProgress]>([])
        let script = Script([broken(4_000), rest(4_000)])
        let fetcher = HTTPFetcher.make(script) { $0.retries() }
        let request = HTTPRequest(url: try #require(URL(string: "http://h/a")))
        _ = try await fetcher.fetch(request, pause: TransferPause { _, _ in true }) { step in
            steps.update { $0.append(step) }
        }
        #expect(steps.value.map(\.received) == [0, 4_000, 10_000])
        #expect(steps.value.allSatisfy { $0.expected == 10_000 })
    }

    @Test func `a download resumes after its connection was closed`() async throws {
        let large = sample(3 << 20)
        let origin = try LoopbackOrigin { request in
            let reply = RangeServer.reply(large, tag: "\"a\"", to: request)
            return request.attempt < 4 ? reply.cutting(at: .afterBody(700_000)) : reply
        }
        defer { origin.stop() }
        let fetcher = HTTPFetcher.make(CURLTransport()) { $0.retries(9) }
        let download = try await fetcher.fetch(origin.url(for: "/a").absoluteString)
        #expect(download.data == large)
        #expect(
            origin.requests.map { $0.fields["Range"] } == [nil, "bytes=700000-", "bytes=1400000-", "bytes=2100000-"])
    }

    @Test func `a download is retried and resumes after its connection was closed within the head`() async throws {
        let large = sample(100_000)
        let origin = try LoopbackOrigin { request in
            switch request.attempt {
            case 1: RangeServer.reply(large, tag: "\"a\"", to: request).cutting(at: .afterBody(70_000))
            case 2: .raw(Data("HTTP/1.1 206 Partial Content\r\nContent-Ran".utf8))
            default: RangeServer.reply(large, tag: "\"a\"", to: request)
            }
        }
        defer { origin.stop() }
        let failed = FailureCache()
        let fetcher = HTTPFetcher.make(CURLTransport()) {
            $0.retries()
            $0.failureCache = failed
        }
        #expect(try await fetcher.fetch(origin.url(for: "/a").absoluteString).data == large)
        #expect(origin.requests.map { $0.fields["Range"] } == [nil, "bytes=70000-", "bytes=70000-"])
        #expect(failed.count == 0)
    }

    @Test func `real content that changes between the pieces is never mixed`() async throws {
        let versions = (0..<4).map { sample(2 << 20, seed: UInt64($0)) }
        let origin = try LoopbackOrigin { request in
            let version = min(request.attempt / 2, 3)
            let reply = RangeServer.reply(versions[version], tag: "\"\(version)\"", to: request)
            return request.attempt < 7 ? reply.cutting(at: .afterBody(500_000)) : reply
        }
        defer { origin.stop() }
        let fetcher = HTTPFetcher.make(CURLTransport()) { $0.retries(20) }
        let download = try await fetcher.fetch(origin.url(for: "/a").absoluteString)
        #expect(download.data == versions[3])
    }
}

/// A server that supports ranges.
enum RangeServer {
    static func reply(_ body: Data, tag: String, to request: OriginRequest) -> OriginReply {
        let whole = OriginReply.ok(body).setting("ETag", tag)
        guard request.fields["If-Range"] == tag,
            let offset = request.fields["Range"]?.dropFirst("bytes=".count).dropLast(), let offset = Int(offset)
        else { return whole }
        var part = OriginReply.ok(Data(body.dropFirst(offset))).setting("ETag", tag)
            .setting("Content-Range", "bytes \(offset)-\(body.count - 1)/\(body.count)")
        part.status = 206
        return part
    }
}

/// A body of one piece, which calls a closure at its end.
private final class EndingBody: HTTPBodySource {
    private let piece: Watched<Data?>
    private let onEnd: @Sendable () -> Void

    init(_ piece: Data, onEnd: @escaping @Sendable () -> Void) {
        self.piece = Watched(piece)
        self.onEnd = onEnd
    }

    func next() async throws -> Data? {
        let next = piece.update { piece in
            defer { piece = nil }
            return piece
        }
        if next == nil { onEnd() }
        return next
    }

    func cancel() {}
}
