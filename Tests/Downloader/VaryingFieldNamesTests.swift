import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDownloader

/// The fields by which a download varies.
@Suite(.timeLimit(.minutes(10)))
struct VaryingFieldNamesTests {
    private let body = Data("x".utf8)

    private func names(
        _ responses: [Script.Response], _ fields: HTTPFields = [:],
        _ change: (inout DownloaderConfiguration) -> Void = { _ in }
    ) async throws -> [String]? {
        var configuration = DownloaderConfiguration()
        change(&configuration)
        let downloader = Downloader(
            transport: Script(responses), configuration: configuration, clock: ManualClock())
        let request = HTTPRequest(url: try #require(URL(string: "http://h/a")), fields: fields)
        return try await downloader.download(.http(request)).varyingFieldNames
    }

    @Test func `the names are those of the response, also if the app changes its head`() async throws {
        #expect(try await names([.head(200, [:], body)]) == [])
        #expect(try await names([.head(200, ["Vary": "X-B, x-a"], body)]) == ["x-a", "x-b"])
        #expect(try await names([.head(200, ["Vary": "*"], body)]) == nil)
        let changed = try await names([.head(200, ["Vary": "X-A"], body)]) {
            $0.modifyResponse = { HTTPResponseHead(url: $0.url, status: $0.status) }
        }
        #expect(changed == ["x-a"])
    }

    @Test func `the names of redirects count`() async throws {
        let redirect: HTTPFields = ["Location": "http://other/b", "Vary": "X-A"]
        let own: HTTPFields = ["X-A": "1", "Authorization": "me"]
        #expect(try await names([.head(302, redirect), .head(200, ["Vary": "X-B"], body)], own) == ["x-a", "x-b"])
        #expect(try await names([.head(302, ["Location": "/b", "Vary": "*"]), .head(200, [:], body)]) == nil)
    }

    @Test(arguments: [("X-A", "1", true), ("X-A", "2", false), ("Cookie", "me", false), ("X-Other", "2", true)])
    func `a hook's fields that the first request does not tell forbid keeping`(
        name: String, value: String, isKept: Bool
    )
        async throws
    {
        let responses: [Script.Response] = [.head(302, ["Location": "/b"]), .head(200, ["Vary": "X-A"], body)]
        let names = try await names(responses, ["X-A": "1"]) {
            $0.redirectHook = { _, next in
                var next = next
                next.fields[name] = value
                return next
            }
        }
        #expect(names == (isKept ? ["x-a"] : nil))
    }

    @Test(arguments: [true, false])
    func `an alternative's credentials that the first request does not have forbid keeping`(isOther: Bool) async throws
    {
        let names = try await names([.head(404, [:]), .head(200, ["Vary": "X-A"], body)]) {
            $0.alternatives = { request in
                var other = request
                if isOther { other.fields["Authorization"] = "mirror" }
                return [other]
            }
        }
        #expect(names == (isOther ? nil : ["x-a"]))
    }

    @Test func `an alternative is for requests with equal fields`() async throws {
        let failed: [Script.Response] = [.head(403, ["Vary": "X-B"]), .head(200, [:], body)]
        let names = try await names(failed, ["X-A": "1", "Accept": "image/png"]) {
            $0.alternatives = { [HTTPRequest(url: $0.url.appending(path: "b"))] }
        }
        #expect(names == ["x-a", "x-b"])
    }

    @Test func `the parts of a resumed download count`() async throws {
        let whole = sample(4_000)
        let part: HTTPFields = ["Content-Range": "bytes 2000-3999/4000", "ETag": "\"a\"", "Vary": "X-B"]
        let names = try await names([
            .head(200, ["ETag": "\"a\"", "Vary": "X-A"], whole.prefix(2_000), failing: .connectionLost),
            .head(206, part, whole.suffix(2_000)),
        ]) {
            $0.retries()
            $0.retry.baseDelay = .zero
        }
        #expect(names == ["x-a", "x-b"])
    }
}
