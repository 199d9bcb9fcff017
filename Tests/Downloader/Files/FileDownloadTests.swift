import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoMemoryCache
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDownloader

@Suite(.timeLimit(.minutes(10)))
struct FileDownloadTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let body = sample(10_000)

    init() throws {
        directory = try TemporaryDirectory()
        path = "\(directory.path)/picture"
    }

    private func fetch(
        _ transport: any HTTPTransport, url: String = "http://h/a", to path: String? = nil,
        _ change: (inout DownloaderConfiguration) -> Void = { _ in }
    ) async throws -> DownloadedFile {
        let request = HTTPRequest(url: try #require(URL(string: url)), idleTimeout: .seconds(120))
        let path = path ?? self.path
        let result = try await HTTPFetcher.make(transport, clock: ManualClock(now: Date()), change).fetch(
            request, to: path, pause: TransferPause { _, _ in true }, report: { _ in })
        return DownloadedFile(result, path: path)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
    }

    private var content: Data { get throws { try Data(contentsOf: URL(filePath: path)) } }

    @Test func `content is written to its file, and no other file remains`() async throws {
        let large = sample(5 << 20)
        let origin = try LoopbackOrigin { _ in .ok(large) }
        defer { origin.stop() }
        let file = try await fetch(CURLTransport(), url: origin.url(for: "/a").absoluteString)
        #expect(file.path == path)
        #expect(file.byteCount == large.count)
        #expect(file.head?.status == 200)
        #expect(try content == large)
        #expect(try names == ["picture"])
    }

    @Test func `a file is replaced only when the content is complete`() async throws {
        try Data("old".utf8).write(to: URL(filePath: path))
        let broken = Script([.head(200, ["Content-Length": "10000"], body.prefix(5_000))])
        _ = try await failure { try await fetch(broken) }
        #expect(try content == Data("old".utf8))
        #expect(try names == ["picture"])
        _ = try await fetch(Script([.head(200, [:], body)]))
        #expect(try content == body)
    }

    @Test(arguments: [
        Script.Response.head(404, [:]), .head(200, [:]), .cancellation, .head(200, [:], Data(count: 20_000)),
    ])
    func `a failed download leaves no file`(response: Script.Response) async throws {
        await #expect(throws: (any Error).self) { try await fetch(Script([response])) { $0.maximumByteCount = 15_000 } }
        #expect(try names == [])
    }

    @Test func `an interrupted transfer resumes in the file`() async throws {
        let whole: HTTPFields = ["ETag": "\"a\"", "Content-Length": "10000"]
        let script = Script([
            .head(200, whole, body.prefix(4_000), failing: .connectionLost),
            .head(206, ["ETag": "\"a\"", "Content-Range": "bytes 4000-9999/10000"], body.dropFirst(4_000)),
        ])
        let file = try await fetch(script) { $0.retries() }
        #expect(script.ranges == [nil, "bytes=4000-"])
        #expect(file.byteCount == 10_000)
        #expect(try content == body)
    }

    @Test func `changed content replaces the bytes in the file`() async throws {
        let other = sample(3_000, seed: 5)
        let script = Script([
            .head(200, ["ETag": "\"a\""], body.prefix(4_000), failing: .connectionLost),
            .head(200, ["ETag": "\"b\""], other),
        ])
        #expect(try await fetch(script) { $0.retries() }.byteCount == 3_000)
        #expect(try content == other)
    }

    @Test func `bytes kept by an earlier download are written to the file`() async throws {
        let storage = DataMemoryCache(sizeLimit: 1 << 20)
        let broken = Script.Response.head(200, ["ETag": "\"a\""], body.prefix(4_000), failing: .timedOut)
        var policy = ResumePolicy(storage: storage)
        policy.minimumByteCount = 1
        _ = try await failure { try await fetch(Script([broken])) { $0.resume = policy } }
        let rest = Script([
            .head(206, ["ETag": "\"a\"", "Content-Range": "bytes 4000-9999/10000"], body.dropFirst(4_000))
        ])
        _ = try await fetch(rest) { $0.resume = policy }
        #expect(rest.ranges == ["bytes=4000-"])
        #expect(try content == body)
    }

    @Test func `the beginning is checked and the transform is applied`() async throws {
        let page = Script([.head(200, [:], Data("<html>".utf8) + Data(count: 500))])
        let isNoPage: @Sendable (Data) -> Bool = { !$0.starts(with: Data("<html>".utf8)) }
        let error = try await failure { try await fetch(page) { $0.acceptsContent = isNoPage } }
        #expect(error.code == .unexpectedContent)
        _ = try await fetch(Script([.head(200, [:], body)])) {
            $0.acceptsContent = isNoPage
            $0.transform = { data, _ in Data(data.reversed()) }
        }
        #expect(try content == Data(body.reversed()))
        #expect(try names == ["picture"])
    }

    @Test(arguments: ["", "/nowhere/at/all", "a\u{0}b", "/proc/x"])
    func `a file that cannot be written is an error`(path: String) async throws {
        let script = Script([.head(200, [:], body)])
        #expect(try await failure { try await fetch(script, to: path) }.code == .unwritableFile)
        #expect(script.requests.value.isEmpty)
    }

    @Test func `a directory is not replaced`() async throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let error = try await failure { try await fetch(Script([.head(200, [:], body)])) }
        #expect(error.code == .unwritableFile)
        #expect(try names == ["picture"])
    }
}
