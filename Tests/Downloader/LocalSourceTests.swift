import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoLibc
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct LocalSourceTests {
    private struct Failure: Error, Equatable {}

    private let directory: TemporaryDirectory
    private var root: String { directory.path }
    private let downloader = Downloader(
        transport: FakeTransport { _ in throw HTTPTransportError(.failed, "no network here") },
        configuration: .init(maximumByteCount: 1000))

    init() throws { directory = try TemporaryDirectory() }

    private func code(_ source: ImageSource) async throws -> DownloadError.Code {
        try await failure { try await downloader.download(source) }.code
    }

    private func write(_ name: String, count: Int) throws -> ImageSource {
        try Data(repeating: 5, count: count).write(to: URL(filePath: root + "/" + name))
        return .file(root + "/" + name)
    }

    @Test(arguments: [
        ("data:,a%20b", "a b"), ("data:text/plain,%41%zz%4", "A%zz%4"), ("DATA:;base64,YWJj", "abc"),
        ("data:image/png;base64,YWI=", "ab"), ("data:image/png;base64,YWI", "ab"), ("data:;BASE64,YQ", "a"),
        ("data:;base64,Y W\nJ%20j", "abc"), ("data:;base64,YW%4Aj", "abc"), ("data:base64,YWJj", "YWJj"),
        ("data:;base64;charset=x,YWJj", "YWJj"), ("data:,a,b", "a,b"), ("data:,a#b", "a"), ("data:,%2541", "%41"),
        ("data:image/png;%20base64,YWJj", "abc"), ("data:image/png%3Bbase64,YWJj", "abc"),
        ("data:image/png; base64,YWJj", "abc"),
    ])
    func `a data URL is decoded`(text: String, content: String) async throws {
        #expect(try await downloader.download(.dataURL(text)).data == Data(content.utf8))
    }

    @Test func `a data URL with a space is decoded after URL has escaped it`() async throws {
        let url = try #require(URL(string: "data:image/png; base64,YWJj"))
        #expect(try await downloader.download(ImageSource(url)).data == Data("abc".utf8))
    }

    @Test func `a message repeats at most 200 characters of a source`() async throws {
        let long = String(repeating: "a", count: 100_000)
        let sources: [ImageSource] = [
            .file("/\(long)"), .file("/\(long)\0"), .bytes(Data(), identity: long), .dataURL("data:\(long)"),
            .provider(identity: long) { throw HTTPTransportError(.failed, "no") },
            .url(try #require(URL(string: "\(long):b"))),
            .http(HTTPRequest(url: try #require(URL(string: "http://h/\(long)")), fields: ["A": "\u{100}"])),
        ]
        for source in sources {
            let error = try await failure { try await downloader.download(source) }
            #expect(error.message.utf8.count < 500)
        }
    }

    @Test(arguments: [
        "data:image/png;base64", "date:,a", "", "data", "data:;base64,a", "data:;base64,%%%", "data:;base64,YQ=a",
        "data:;base64,YQ=", "data:;base64,====",
    ])
    func `a malformed data URL is an error`(text: String) async throws {
        #expect(try await code(.dataURL(text)) == .invalidSource)
    }

    @Test(arguments: ["ftp://h/a", "mailto:a@b", "a/b", "file://elsewhere/a"])
    func `an unsupported scheme or a file of another host is an error without retry`(
        text: String
    ) async throws {
        #expect(try await code(ImageSource(try #require(URL(string: text)))) == .unsupportedURL)
        let target = root + "/target"
        let error = try await failure {
            try await downloader.download(
                DownloadRequest(ImageSource(try #require(URL(string: text)))), to: target)
        }
        #expect(error.code == .unsupportedURL)
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    @Test func `a decoded image as a source has no bytes`() async throws {
        #expect(try await code(.image(.gray(side: 1), identity: "a")) == .invalidSource)
    }

    @Test func `requests for different versions of a file do not share a transfer`() async throws {
        let source = try write("a", count: 1)
        let begun = Watched(0)
        func request() -> DownloadRequest {
            var request = DownloadRequest(source)
            request.fileVersion = FileVersion(path: root + "/a")
            request.admission = {
                begun.update { $0 += 1 }
                try await begun.waitUntil { $0 == 2 }
            }
            return request
        }
        async let first = downloader.download(request())
        try await begun.waitUntil { $0 == 1 }

        _ = try write("a", count: 2)

        #expect(try await downloader.download(request()).data.count == 2)
        _ = try await first
    }

    @Test func `an empty source throws the error empty`() async throws {
        #expect(try await code(.dataURL("data:,")) == .empty)
        #expect(try await code(.dataURL("data:;base64,")) == .empty)
        #expect(try await code(.bytes(Data(), identity: "a")) == .empty)
        #expect(try await code(.provider(identity: "a") { Data() }) == .empty)
        #expect(try await code(try write("empty", count: 0)) == .empty)
    }

    @Test func `sources over the limit are refused, and those of exactly the limit are not`() async throws {
        #expect(try await code(.bytes(Data(count: 1001), identity: "a")) == .tooLarge)
        #expect(try await code(.provider(identity: "a") { Data(count: 1001) }) == .tooLarge)
        #expect(try await code(try write("large", count: 1001)) == .tooLarge)
        #expect(try await downloader.download(try write("fits", count: 1000)).data.count == 1000)
        #expect(try await downloader.download(.bytes(Data(count: 1000), identity: "a")).data.count == 1000)
    }

    @Test func `a file is read with progress at its beginning and end`() async throws {
        let steps = Watched<[DownloadProgress]>([])
        let source = try write("ünïcode name.png", count: 10)

        let download = try await downloader.download(DownloadRequest(source)) { step in steps.update { $0.append(step) }
        }

        #expect(download.data == Data(repeating: 5, count: 10))
        #expect(download.head == nil)
        #expect(
            steps.value == [
                DownloadProgress(received: 0, expected: 10), DownloadProgress(received: 10, expected: 10),
            ])
    }

    @Test func `a path that is not a regular file is an error and does not block`() async throws {
        #expect(try await code(.file(root + "/missing")) == .unreadableFile)
        #expect(try await code(.file(root)) == .unreadableFile)
        #expect(try await code(.file("")) == .unreadableFile)
        #expect(mkfifo(root + "/pipe", 0o600) == 0)
        #expect(try await code(.file(root + "/pipe")) == .unreadableFile)
        #expect(try await code(.file("/dev/zero")) == .unreadableFile)
        #expect(symlink("missing", root + "/dangling") == 0)
        #expect(try await code(.file(root + "/dangling")) == .unreadableFile)
        #expect(symlink("loop", root + "/loop") == 0)
        #expect(try await code(.file(root + "/loop")) == .unreadableFile)
    }

    @Test func `a file of unknown length is read up to the limit`() async throws {
        // Kernel files report zero bytes and contain thousands.
        #expect(try await code(.file("/proc/self/smaps")) == .tooLarge)
        #expect(try await downloader.download(.file("/proc/self/comm")).data.isEmpty == false)
    }

    @Test func `a link to a file is followed`() async throws {
        _ = try write("target", count: 3)
        #expect(symlink("target", root + "/link") == 0)
        #expect(try await downloader.download(.file(root + "/link")).data.count == 3)
    }

    @Test func `a path with a null character is an error`() async throws {
        _ = try write("a", count: 3)
        #expect(try await code(.file(root + "/a\0.png")) == .invalidSource)
    }

    @Test func `a provider's error is the cause of the download's error`() async throws {
        let error = try await failure {
            try await self.downloader.download(.provider(identity: "mine") { throw Failure() })
        }
        #expect(error.code == .provider)
        #expect(error.cause as? Failure == Failure())
        #expect(error.message.contains("mine"))
    }

    @Test func `a provider is called once for all waiters, is canceled with the last, and is called again afterwards`()
        async throws
    {
        let clock = ManualClock()
        let calls = Watched(0)
        let source = ImageSource.provider(identity: "a") {
            calls.update { $0 += 1 }
            try await clock.sleep(for: .seconds(1))
            return Data([1])
        }
        let downloader = downloader
        let tasks = (0..<5).map { _ in Task.immediate { try await downloader.download(source) } }
        try await clock.waitForSleepers(count: 1)
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(calls.value == 1)
        // The cancellation ends the provider's own sleep.
        try await eventually { clock.sleeperCount == 0 }

        let again = Task { try await downloader.download(source).data }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        #expect(try await again.value == Data([1]))
        #expect(calls.value == 2)
    }
}
