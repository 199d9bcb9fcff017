import AlcedoCore
import AlcedoDiskCache
import AlcedoHTTP
import AlcedoLibc
import AlcedoMemoryCache
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDownloader

/// Bytes kept by a download are available to the next one, also in another process.
@Suite(.timeLimit(.minutes(10)))
struct KeptPartTests {
    private static let body = sample(10_000)
    private static let whole: HTTPFields = ["ETag": "\"a\"", "Content-Length": "10000", "Set-Cookie": "secret=1"]

    /// Stored entries expire by the caches' own clocks.
    private static var today: ManualClock { ManualClock(now: Date()) }

    private let storage = DataMemoryCache(sizeLimit: 1 << 20)

    private static func policy(_ storage: any DataCaching) -> ResumePolicy {
        var policy = ResumePolicy(storage: storage)
        (policy.pieceByteCount, policy.minimumByteCount) = (1_500, 500)
        return policy
    }

    /// The resource of the pieces: the request with its default fields.
    private static func resource() throws -> ResourceKey {
        resource(of: HTTPRequest(url: try #require(URL(string: "http://h/a"))))
    }

    private static func resource(of request: HTTPRequest) -> ResourceKey {
        let sent = DownloaderConfiguration().addingDefaultFields(to: request)
        return ResourceKey("unfinished: \(ResourceKey(allFieldsOf: sent))")
    }

    private static func broken(_ count: Int, _ fields: HTTPFields? = nil) -> Script.Response {
        .head(200, fields ?? whole, body.prefix(count), failing: .connectionLost)
    }

    private static func rest(_ offset: Int) -> Script.Response {
        .head(206, ["ETag": "\"a\"", "Content-Range": "bytes \(offset)-9999/10000"], body.dropFirst(offset))
    }

    /// One process: its downloader and one download.
    private func download(
        _ script: Script, _ change: (inout DownloaderConfiguration) -> Void = { _ in }
    ) async throws -> Download {
        try await HTTPFetcher.make(script, clock: Self.today) { configuration in
            configuration.resume = Self.policy(storage)
            change(&configuration)
        }.fetch("http://h/a")
    }

    private func breakOff(_ response: Script.Response, _ change: (inout DownloaderConfiguration) -> Void = { _ in })
        async throws
    {
        _ = try await failure { try await download(Script([response]), change) }
    }

    @Test func `the next download resumes, and nothing is kept once it is complete`() async throws {
        try await breakOff(Self.broken(4_000))
        let next = Script([Self.rest(4_000)])
        let done = try await download(next)
        #expect(done.data == Self.body)
        #expect(next.ranges == ["bytes=4000-"])
        #expect(storage.count == 0)
        #expect(done.head?.fields["Set-Cookie"] == nil)
    }

    @Test func `many downloads complete the content piece by piece`() async throws {
        try await breakOff(Self.broken(3_000))
        for offset in [3_000, 5_000, 7_000] {
            let fields: HTTPFields = ["ETag": "\"a\"", "Content-Range": "bytes \(offset)-9999/10000"]
            try await breakOff(.head(206, fields, Self.body[offset..<offset + 2_000], failing: .timedOut))
        }
        #expect(try await download(Script([Self.rest(9_000)])).data == Self.body)
    }

    @Test func `a small lost part is downloaded again`() async throws {
        // Pieces have 2,000 bytes, as they arrive. The last thousand are one kept piece.
        try await breakOff(Self.broken(4_400))
        let next = Script([Self.rest(4_000)])
        #expect(try await download(next).data == Self.body)
        #expect(next.ranges == ["bytes=4000-"])
    }

    @Test func `changed content restarts the download and removes the kept bytes`() async throws {
        try await breakOff(Self.broken(4_000))
        let other = sample(3_000, seed: 9)
        #expect(try await download(Script([.head(200, ["ETag": "\"b\""], other)])).data == other)
        #expect(storage.count == 0)
    }

    @Test func `the kept bytes are removed for missing content, but not after a server error`() async throws {
        try await breakOff(Self.broken(4_000))
        let count = storage.count
        #expect(count > 0)
        try await breakOff(.head(503, [:]))
        try await breakOff(.failure(.cannotConnect))
        #expect(storage.count == count)
        try await breakOff(.head(404, [:]))
        #expect(storage.count == 0)
    }

    @Test func `a canceled download keeps its received bytes`() async throws {
        let clock = ManualClock()
        let transport = FakeTransport { request in
            let pieces = [Data(Self.body.prefix(4_000))]
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: 200, fields: Self.whole),
                body: HTTPBody(StalledBody(pieces, clock: clock)))
        }
        let fetcher = HTTPFetcher.make(transport, clock: Self.today) { $0.resume = Self.policy(storage) }
        let task = Task { try await fetcher.fetch("http://h/a") }
        try await clock.waitForSleepers(count: 1)

        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
        let next = Script([Self.rest(4_000)])
        #expect(try await download(next).data == Self.body)
        #expect(next.ranges == ["bytes=4000-"])
    }

    @Test(arguments: [
        (["ETag": "\"a\"", "Cache-Control": "private, No-Store"] as HTTPFields, true),
        (["ETag": "W/\"a\""] as HTTPFields, true), (["ETag": "\"a\""] as HTTPFields, false),
    ])
    func `bytes that must not be stored or cannot be resumed are not kept`(fields: HTTPFields, isEmpty: Bool)
        async throws
    {
        try await breakOff(Self.broken(4_000, fields))
        #expect((storage.count == 0) == isEmpty)
    }

    @Test(arguments: [
        ([:] as HTTPFields, false), (["Cache-Control": "max-age=0, No-Store"] as HTTPFields, true),
    ])
    func `a request that must not be stored leaves nothing`(fields: HTTPFields, allowsStoring: Bool) async throws {
        let fetcher = HTTPFetcher.make(Script([Self.broken(4_000)]), clock: Self.today) {
            $0.resume = Self.policy(storage)
        }
        let url = try #require(URL(string: "http://h/a"))
        let request = HTTPRequest(url: url, fields: fields, allowsStoring: allowsStoring)
        _ = try await failure { try await fetcher.fetch(request) { _ in } }
        #expect(storage.count == 0)
    }

    @Test(arguments: [true, false])
    func `a part of a response for which a hook has added credentials is not kept`(addsCredentials: Bool) async throws {
        let script = Script([.head(302, ["Location": "/b"]), Self.broken(4_000)])
        _ = try await failure {
            try await download(script) {
                $0.redirectHook = { _, next in
                    var next = next
                    if addsCredentials { next.fields["Authorization"] = "me" }
                    return next
                }
            }
        }
        #expect((storage.count == 0) == addsCredentials)
    }

    @Test func `a part of a response that varies by everything is not kept`() async throws {
        var fields = Self.whole
        fields["Vary"] = "*"
        try await breakOff(Self.broken(4_000, fields))
        #expect(storage.count == 0)
    }

    @Test func `content that the response cache forbids to store is not kept`() async throws {
        let transport = FakeTransport { request in
            let body = ScriptedBody([Data(Self.body.prefix(4_000))], end: HTTPTransportError(.timedOut, "late"))
            var response = HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: 200, fields: Self.whole), body: HTTPBody(body))
            response.caching = ResponseCaching(source: .new, decision: StorageDecision(.allowedInMemoryOnly))
            return response
        }
        let fetcher = HTTPFetcher.make(transport, clock: Self.today) { $0.resume = Self.policy(storage) }
        _ = try await failure { try await fetcher.fetch("http://h/a") }
        #expect(storage.count == 0)
    }

    @Test func `the kept bytes of one content are limited`() async throws {
        try await breakOff(Self.broken(9_000)) { $0.resume?.maximumByteCount = 5_000 }
        let next = Script([Self.rest(4_000)])
        #expect(try await download(next).data == Self.body)
        #expect(next.ranges == ["bytes=4000-"])
    }

    @Test func `pieces that do not fit together end before the gap`() async throws {
        try await breakOff(Self.broken(8_000))
        #expect(storage.count == 4)
        #expect(storage.remove(ImageKey(try Self.resource(), variant: "piece 2")))
        let next = Script([Self.rest(4_000)])
        #expect(try await download(next).data == Self.body)
        #expect(next.ranges == ["bytes=4000-"])
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"offset":-1,"url":"http://h/a","fields":[]}"#,
        #"{"offset":0,"url":"http://h/a","fields":["ETag"]}"#, #"{"offset":0,"url":"","fields":["ETag","\"a\""]}"#,
        #"{"offset":1,"url":"http://h/a","fields":["ETag","\"a\""]}"#,
        #"{"offset":0,"url":"http://h/a","fields":["ETag","W/\"a\""]}"#,
        #"{"offset":0,"url":"http://h/a","fields":["ETag","\"a\"","Content-Length","3"]}"#,
        #"{"offset":0,"url":"http://h/a","fields":["ETag","\"a\"","Content-Length","4"]}"#,
    ])
    func `an invalid piece is not used`(metadata: String) async throws {
        let key = ImageKey(try Self.resource(), variant: "piece 0")
        try storage.store(CachedData(Data(count: 4), metadata: Data(metadata.utf8)), for: key)
        let next = Script([.head(200, Self.whole, Self.body)])
        #expect(try await download(next).data == Self.body)
        #expect(next.ranges == [nil])
    }

    @Test func `a part larger than the limit is not used`() async throws {
        try await breakOff(Self.broken(8_000))
        let script = Script([.head(200, ["ETag": "\"c\""], Data(count: 900))])
        #expect(try await download(script) { $0.maximumByteCount = 1_000 }.data.count == 900)
        #expect(script.ranges == [nil])
    }

    @Test func `a part of another request is not used`() async throws {
        try await breakOff(Self.broken(4_000))
        let next = Script([.head(200, Self.whole, Self.body)])
        let request = HTTPRequest(url: try #require(URL(string: "http://h/a")), fields: ["Authorization": "me"])
        let fetcher = HTTPFetcher.make(next, clock: Self.today) { $0.resume = Self.policy(storage) }
        #expect(try await fetcher.fetch(request) { _ in }.data == Self.body)
        #expect(next.ranges == [nil])
    }

    @Test(arguments: ["X-Token", "User-Agent", "Range"])
    func `a part of a request with another value of a field is not used`(name: String) async throws {
        func fetch(_ script: Script, _ value: String) async throws -> Download {
            let request = HTTPRequest(url: try #require(URL(string: "http://h/a")), fields: [name: value])
            let fetcher = HTTPFetcher.make(script, clock: Self.today) { $0.resume = Self.policy(storage) }
            return Download(try await fetcher.fetch(request) { _ in })
        }
        _ = try await failure { try await fetch(Script([Self.broken(4_000)]), "bytes=0-") }
        let next = Script([.head(200, Self.whole, Self.body)])

        #expect(try await fetch(next, "bytes=1-").data == Self.body)

        // The value of the second request was sent, and no condition on the part of the first one.
        #expect(next.ranges == [name == "Range" ? "bytes=1-" : nil])
        #expect(next.requests.value.first?.fields["If-Range"] == nil)
    }

    @Test func `the password of a URL is not stored`() async throws {
        let request = HTTPRequest(url: try #require(URL(string: "http://me:secret@h/a")))
        let first = HTTPFetcher.make(Script([Self.broken(4_000)]), clock: Self.today) {
            $0.resume = Self.policy(storage)
        }
        _ = try await failure { try await first.fetch(request) { _ in } }
        let key = ImageKey(Self.resource(of: request), variant: "piece 0")
        let piece = try #require(storage.entry(for: key))
        #expect(!String(decoding: piece.metadata, as: UTF8.self).contains("secret"))

        let next = Script([Self.rest(4_000)])
        let second = HTTPFetcher.make(next, clock: Self.today) { $0.resume = Self.policy(storage) }
        #expect(try await second.fetch(request) { _ in }.data == Self.body)
        #expect(next.ranges == ["bytes=4000-"])
    }

    @Test func `storage errors do not fail the download`() async throws {
        let storage = DataMemoryCache(sizeLimit: 1)
        let script = Script([Self.broken(4_000), Self.rest(4_000)])
        let download = try await download(script) {
            $0.resume = Self.policy(storage)
            $0.retries()
        }
        #expect(download.data == Self.body)
    }

    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test(.spawnsProcesses) func `a download resumes what a killed process has kept`() async throws {
            let directory = try TemporaryDirectory()
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = directory.path as String] in
                let transport = FakeTransport { request in
                    let pieces = stride(from: 0, to: 7_000, by: 1_000).map { Data(Self.body[$0..<$0 + 1_000]) }
                    return HTTPResponse(
                        head: HTTPResponseHead(url: request.url, status: 200, fields: Self.whole),
                        body: HTTPBody(DeadlyBody(pieces)))
                }
                let fetcher = HTTPFetcher.make(transport, clock: Self.today) {
                    $0.resume = Self.policy(Self.disk(path))
                }
                _ = try await fetcher.fetch("http://h/a")
            }

            let next = Script([Self.rest(6_000)])
            let steps = Watched<[DownloadProgress]>([])
            let disk = Self.disk(directory.path)
            let fetcher = HTTPFetcher.make(next, clock: Self.today) { $0.resume = Self.policy(disk) }
            let request = HTTPRequest(url: try #require(URL(string: "http://h/a")))
            let done = try await fetcher.fetch(request) { step in steps.update { $0.append(step) } }

            #expect(done.data == Self.body)
            #expect(next.ranges == ["bytes=6000-"])
            #expect(steps.value.first == DownloadProgress(received: 6_000, expected: 10_000))
            #expect(await disk.count == 0)
        }
    #endif

    private static func disk(_ path: String) -> FileDiskCache {
        FileDiskCache(directory: URL(filePath: path), lockTimeout: .seconds(300))
    }
}

/// Sends pieces, then sleeps.
private final class StalledBody: HTTPBodySource {
    private let pieces: ScriptedBody
    private let clock: ManualClock

    init(_ pieces: [Data], clock: ManualClock) {
        self.pieces = ScriptedBody(pieces)
        self.clock = clock
    }

    func next() async throws -> Data? {
        if let piece = try await pieces.next() { return piece }
        try await clock.sleep(for: .seconds(1))
        return nil
    }

    func cancel() {}
}
