import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import Testing

@testable import AlcedoDownloader

@Suite struct PartialContentTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)
    private let url: URL
    private let first: HTTPFields = ["ETag": "\"a\"", "Content-Length": "100", "Content-Type": "image/png"]

    init() throws { url = try #require(URL(string: "http://h/a")) }

    private func content(
        _ change: (inout HTTPRequest, inout HTTPResponseHead) -> Void = { _, _ in }
    ) -> PartialContent? {
        var request = HTTPRequest(url: url)
        var head = HTTPResponseHead(url: url, status: 200, fields: first)
        change(&request, &head)
        return PartialContent(of: request, head: head, now: now)
    }

    private func continuation(_ status: Int, _ fields: HTTPFields) throws -> PartialContent.Continuation {
        try #require(content()).continuation(
            from: 40, HTTPResponseHead(url: url, status: status, fields: fields))
    }

    @Test func `identity content with a validator can be resumed`() throws {
        let content = try #require(self.content())
        let next = content.request(like: HTTPRequest(url: url, fields: ["Accept": "image/*"]), from: 40)
        #expect(next.fields == ["Accept": "image/*", "Range": "bytes=40-", "If-Range": "\"a\""])
        #expect(content.total == 100)
    }

    @Test(arguments: [
        "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
    ])
    func `a request with its own condition is not resumed`(name: String) {
        #expect(content { request, _ in request.fields[name] = "x" } == nil)
    }

    @Test func `a response that is not complete identity content is not resumed`() {
        #expect(content { request, _ in request.method = .post } == nil)
        #expect(content { request, _ in request.method = .head } == nil)
        #expect(content { request, _ in request.body = Data() } == nil)
        for status in [201, 203, 204, 206, 300, 404] { #expect(content { _, head in head.status = status } == nil) }
        #expect(content { _, head in head.fields["Content-Encoding"] = "gzip" } == nil)
        #expect(content { _, head in head.fields["Accept-Ranges"] = "none" } == nil)
        #expect(content { _, head in head.fields["ETag"] = "W/\"a\"" } == nil)
        #expect(content { _, head in head.fields["Accept-Ranges"] = "bytes" } != nil)
    }

    @Test(
        arguments: [
            ["Content-Range": "bytes 40-99/100", "ETag": "\"a\""],
            ["content-range": "bytes 40-99/100", "ETag": "\"a\"", "Content-Length": "60"],
            ["Content-Range": "Bytes 40-99/100", "ETag": "\"a\"", "Transfer-Encoding": "chunked"],
        ] as [HTTPFields])
    func `the rest of the same content is accepted`(fields: HTTPFields) throws {
        #expect(try continuation(206, fields) == .remainder(total: 100))
    }

    @Test(
        arguments: [
            [:], ["ETag": "\"a\""], ["Content-Range": "bytes 40-99/100"],
            ["Content-Range": "bytes 40-99/100", "ETag": "\"b\""],
            ["Content-Range": "bytes 40-99/100", "ETag": "W/\"a\""],
            ["Content-Range": "bytes 40-99/100", "Last-Modified": "Tue, 14 Nov 2023 22:12:20 GMT"],
            ["Content-Range": "bytes 0-99/100", "ETag": "\"a\""],
            ["Content-Range": "bytes 41-99/100", "ETag": "\"a\""],
            ["Content-Range": "bytes 39-99/100", "ETag": "\"a\""],
            ["Content-Range": "bytes 40-98/100", "ETag": "\"a\""],
            ["Content-Range": "bytes 40-100/101", "ETag": "\"a\""],
            ["Content-Range": "bytes 40-99/*", "ETag": "\"a\""],
            ["Content-Range": "bytes */100", "ETag": "\"a\""], ["Content-Range": "pages 40-99/100", "ETag": "\"a\""],
            ["Content-Range": "40-99/100", "ETag": "\"a\""], ["Content-Range": "bytes 40-99", "ETag": "\"a\""],
            ["Content-Range": "bytes 40-99/100", "ETag": "\"a\"", "Content-Length": "100"],
            ["Content-Range": "bytes 40-99/100", "ETag": "\"a\"", "Content-Encoding": "gzip"],
            ["Content-Range": "bytes 0-9/10", "ETag": "\"a\""], ["Content-Range": "bytes 10-29/30", "ETag": "\"a\""],
            ["Content-Type": "multipart/byteranges; boundary=x", "ETag": "\"a\""],
        ] as [HTTPFields])
    func `a part of different content is rejected`(fields: HTTPFields) throws {
        #expect(try continuation(206, fields) == .unusable)
    }

    @Test func `a part with repeated fields or from another URL is rejected`() throws {
        var fields: HTTPFields = ["Content-Range": "bytes 40-99/100", "ETag": "\"a\""]
        let other = HTTPResponseHead(url: try #require(URL(string: "http://h/b")), status: 206, fields: fields)
        #expect(try #require(content()).continuation(from: 40, other) == .unusable)
        fields.append("Content-Range", "bytes 40-99/100")
        #expect(try continuation(206, fields) == .unusable)
    }

    @Test func `content of unknown length resumes when its end is now known`() throws {
        let content = try #require(self.content { _, head in head.fields["Content-Length"] = nil })
        func continuation(_ range: String) -> PartialContent.Continuation {
            content.continuation(
                from: 40, HTTPResponseHead(url: url, status: 206, fields: ["Content-Range": range, "ETag": "\"a\""]))
        }
        #expect(continuation("bytes 40-77/78") == .remainder(total: 78))
        #expect(continuation("bytes 40-77/79") == .unusable)
        #expect(continuation("bytes 40-77/*") == .unusable)
        #expect(continuation("bytes 0-9/10") == .unusable)
    }

    @Test(arguments: [
        (200, PartialContent.Continuation.newResponse), (416, .unusable), (404, .newResponse), (503, .newResponse),
        (304, .newResponse),
    ])
    func `a response with a status other than 206 is a new response, and 416 makes the part unusable`(
        status: Int, continuation: PartialContent.Continuation
    ) throws {
        let fields: HTTPFields = ["ETag": "\"a\"", "Content-Range": "bytes */100"]
        #expect(try self.continuation(status, fields) == continuation)
    }

    @Test func `the head of the whole has the new fields and its own length`() throws {
        var response: HTTPFields = [
            "Content-Range": "bytes 40-99/100", "Content-Length": "60", "ETag": "\"a\"", "Date": "later",
        ]
        response.append("Set-Cookie", "a=b")
        response.append("Set-Cookie", "c=d")
        let whole = try #require(content()).head(
            completedBy: HTTPResponseHead(url: url, status: 206, fields: response), total: 100)
        #expect(whole.status == 200)
        #expect(whole.url == url)
        #expect(whole.fields["Content-Length"] == "100")
        #expect(whole.fields["Content-Range"] == nil)
        #expect(whole.fields["Content-Type"] == "image/png")
        #expect(whole.fields["Date"] == "later")
        #expect(whole.fields.values(of: "Set-Cookie") == ["a=b", "c=d"])
        #expect(whole.fields.values(of: "ETag") == ["\"a\""])
    }
}
