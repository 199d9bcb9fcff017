import AlcedoCURL
import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Downloads to files through the downloader's own methods.
@Suite(.timeLimit(.minutes(10)))
struct FileWaiterTests {
    private let directory: TemporaryDirectory
    private let clock = ManualClock()
    private let outcomes = Outcomes()

    init() throws { directory = try TemporaryDirectory() }

    private func path(_ name: String) -> String { "\(directory.path)/\(name)" }

    private func content(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: path(name))) }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
    }

    private func downloader(_ transport: any HTTPTransport, limit: Int = 6) -> Downloader {
        Downloader(
            transport: transport, configuration: .init(maxConcurrentDownloads: limit, maximumByteCount: 4 << 20),
            clock: clock)
    }

    @discardableResult
    private func start(
        _ source: ImageSource, on downloader: Downloader, to name: String, _ priority: LoadPriority = .normal,
        as title: String
    ) -> DownloadReceipt {
        downloader.start(DownloadRequest(source, priority: priority), to: path(name)) { [outcomes] in
            outcomes.record(title, $0.map(\.byteCount))
        }
    }

    @Test func `equal requests to one file share a transfer, and those to another file or memory do not`() async throws
    {
        let body = sample(200_000)
        let origin = try LoopbackOrigin { _ in .ok(body).stalling(at: .afterBody(100_000)) }
        defer { origin.stop() }
        let downloader = downloader(CURLTransport())
        let source = ImageSource.http(HTTPRequest(url: origin.url(for: "/a"), idleTimeout: .seconds(120)))
        let steps = Watched<[[DownloadProgress]]>([[], []])
        for number in 0..<2 {
            downloader.start(DownloadRequest(source), to: path("one")) { step in
                steps.update { $0[number].append(step) }
            } completion: { [outcomes] in
                outcomes.record("one", $0.map(\.byteCount))
            }
        }
        start(source, on: downloader, to: "two", as: "two")
        let memory = Task.immediate { try await downloader.download(source).data }
        try await origin.waitUntil { $0.stalledCount == 3 }
        #expect(origin.requests.count == 3)
        origin.release()

        try await outcomes.waitFor(3)

        #expect(outcomes.texts == ["one": ["200000 bytes", "200000 bytes"], "two": ["200000 bytes"]])
        #expect(try await memory.value == body)
        #expect(try content("one") == body)
        #expect(try content("two") == body)
        #expect(try names == ["one", "two"])
        for seen in steps.value {
            #expect(seen.first == DownloadProgress(received: 0, expected: 200_000))
            #expect(seen.last == DownloadProgress(received: 200_000, expected: 200_000))
        }
    }

    @Test func `a waiter that leaves keeps the file for the others, and the last removes it`() async throws {
        let origin = try LoopbackOrigin { _ in .ok(sample(200_000)).stalling(at: .afterBody(100_000)) }
        defer { origin.stop() }
        let downloader = downloader(CURLTransport())
        let request = DownloadRequest(
            .http(HTTPRequest(url: origin.url(for: "/a"), idleTimeout: .seconds(120))))
        let task = Task.immediate { try await downloader.download(request, to: path("a")) }
        start(request.source, on: downloader, to: "a", as: "a")
        try await origin.waitForStalls()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try names == [".a.alcedo-part"])
        origin.release()
        try await outcomes.waitFor(1)
        #expect(outcomes.texts == ["a": ["200000 bytes"]])
        #expect(origin.requests.count == 1)

        let last = start(request.source, on: downloader, to: "b", as: "b")
        try await origin.waitForStalls()
        downloader.cancel(last)

        #expect(outcomes.texts["b"] == ["cancelled"])
        try await origin.waitForDisconnects()
        await downloader.shutDown()
        #expect(try names == ["a"])
    }

    @Test func `downloads to files wait for slots by priority`() async throws {
        let transport = FakeTransport.waiting(on: clock)
        let downloader = downloader(transport, limit: 1)
        start(try web("http://h/plug"), on: downloader, to: "plug", as: "plug")
        try await clock.waitForSleepers(count: 1)
        let low = start(try web("http://h/low"), on: downloader, to: "low", .low, as: "low")
        start(try web("http://h/normal"), on: downloader, to: "normal", as: "normal")
        let memory = Task.immediate { try await downloader.download(web("http://h/memory"), priority: .high) }
        downloader.setPriority(.veryHigh, of: low)
        for _ in 0..<4 {
            try await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(1))
        }
        try await outcomes.waitFor(3)
        _ = try await memory.value
        #expect(transport.requests.map(\.url.path) == ["/plug", "/low", "/memory", "/normal"])
    }

    @Test func `each kind of source is written to a file, with its errors and limits`() async throws {
        let downloader = downloader(FakeTransport(body: Data("web".utf8)))
        let large = sample(3 << 20)
        try large.write(to: URL(filePath: path("source")))
        let sources: [(ImageSource, Data)] = [
            (try web("http://h/a"), Data("web".utf8)), (.file(path("source")), large),
            (.dataURL("data:,a%20b"), Data("a b".utf8)), (.bytes(Data([1, 2]), identity: "b"), Data([1, 2])),
            (.provider(identity: "p") { Data([3]) }, Data([3])),
        ]
        for (number, (source, expected)) in sources.enumerated() {
            let steps = Watched<[DownloadProgress]>([])
            let file = try await downloader.download(DownloadRequest(source), to: path("\(number)")) { step in
                steps.update { $0.append(step) }
            }
            #expect(try content("\(number)") == expected)
            #expect(file.path == path("\(number)"))
            #expect(file.byteCount == expected.count)
            #expect(steps.value.first?.received == 0)
            #expect(
                steps.value.last
                    == DownloadProgress(received: expected.count, expected: number == 0 ? nil : expected.count))
        }
        let wrong: [(ImageSource, DownloadError.Code)] = [
            (.file(path("missing")), .unreadableFile), (.dataURL("data:x"), .invalidSource),
            (.bytes(Data(), identity: "none"), .empty), (.bytes(Data(count: 5 << 20), identity: "much"), .tooLarge),
            (.provider(identity: "q") { throw HTTPTransportError(.failed, "odd") }, .provider),
        ]
        for (source, code) in wrong {
            let error = try await failure { try await downloader.download(DownloadRequest(source), to: path("0")) }
            #expect(error.code == code)
        }
        #expect(try content("0") == Data("web".utf8))
        #expect(try names == ["0", "1", "2", "3", "4", "source"])
    }

    @Test func `a source canceled while it is pending leaves no file`() async throws {
        let downloader = downloader(FakeTransport(body: Data()))
        let source = ImageSource.provider(identity: "slow") { [clock] in
            try await clock.sleep(for: .seconds(1))
            return Data([1])
        }
        let receipts = ["one", "two"].map { start(source, on: downloader, to: "a", as: $0) }
        try await clock.waitForSleepers(count: 1)
        #expect(try names == [".a.alcedo-part"])
        for receipt in receipts { downloader.cancel(receipt) }
        #expect(outcomes.texts == ["one": ["cancelled"], "two": ["cancelled"]])
        await downloader.shutDown()
        #expect(try names == [])
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a file may be downloaded to itself`() async throws {
        let body = sample(100_000)
        try body.write(to: URL(filePath: path("a")))
        _ = try await downloader(FakeTransport(body: Data())).download(
            DownloadRequest(.file(path("a"))), to: path("a"))
        #expect(try content("a") == body)
    }

    @Test func `a large local file is read in chunks, to memory too`() async throws {
        let large = sample((3 << 20) + 5)
        try large.write(to: URL(filePath: path("source")))
        var configuration = DownloaderConfiguration(maximumByteCount: large.count)
        configuration.progressInterval = .zero
        let steps = Watched<[Int]>([])
        let source = DownloadRequest(.file(path("source")))
        let downloader = Downloader(transport: FakeTransport(body: Data()), configuration: configuration, clock: clock)
        let download = try await downloader.download(source) { step in steps.update { $0.append(step.received) } }
        #expect(download.data == large)
        #expect(steps.value == [0, 1 << 20, 2 << 20, 3 << 20, large.count])
        configuration.maximumByteCount -= 1
        let strict = Downloader(transport: FakeTransport(body: Data()), configuration: configuration, clock: clock)
        #expect(try await failure { try await strict.download(source) }.code == .tooLarge)
    }

    @Test func `a write error is the outcome, and the next request tries again`() async throws {
        let downloader = downloader(FakeTransport(body: Data("x".utf8)))
        start(try web("http://h/a"), on: downloader, to: "folder/a", as: "first")
        try await outcomes.waitFor(1)
        #expect(outcomes.texts == ["first": ["unwritableFile"]])
        try FileManager.default.createDirectory(atPath: path("folder"), withIntermediateDirectories: false)
        start(try web("http://h/a"), on: downloader, to: "folder/a", as: "second")
        try await outcomes.waitFor(2)
        #expect(outcomes.texts["second"] == ["1 bytes"])
    }

    @Test func `two requests to one file do not disturb each other`() async throws {
        let bodies = [sample(50_000, seed: 1), sample(70_000, seed: 2)]
        let origin = try LoopbackOrigin { request in
            .ok(bodies[request.path == "/0" ? 0 : 1]).stalling(at: .afterBody(10_000))
        }
        defer { origin.stop() }
        let downloader = downloader(CURLTransport())
        for number in 0..<2 {
            let request = HTTPRequest(url: origin.url(for: "/\(number)"), idleTimeout: .seconds(120))
            start(.http(request), on: downloader, to: "same", as: "\(number)")
        }
        try await origin.waitUntil { $0.stalledCount == 2 }
        #expect(try names == [".same.alcedo-part", ".same.alcedo-part1"])
        origin.release()
        try await outcomes.waitFor(2)
        #expect(outcomes.texts == ["0": ["50000 bytes"], "1": ["70000 bytes"]])
        #expect(bodies.contains(try content("same")))
        #expect(try names == ["same"])
    }
}
