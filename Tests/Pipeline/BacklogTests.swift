import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import Dispatch
import FoundationEssentials
import TestSupport
import Testing

/// Holds every decode up until it is told to go on.
private struct SlowCodec: ImageDecoding {
    let gate = DispatchSemaphore(value: 0)
    /// What began, as the first byte of the data says.
    let begun = Guarded([UInt8]())

    var registry: CodecRegistry {
        CodecRegistry([CodecRegistry.Entry(format: ImageFormat(rawValue: "slow"), decoder: self) { _ in true }])
    }

    func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        throw ImageDecodingError(.corrupt, "not to be inspected")
    }

    func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        begun.change { $0.append(data.first ?? 0) }
        gate.wait()
        if data.first == UInt8(ascii: "?") { throw ImageDecodingError(.corrupt, "damaged") }
        return .gray(side: 1, level: 1)
    }
}

/// Encoded bytes that wait for a decoder are bounded, wherever they come from.
@Suite(.timeLimit(.minutes(10)))
struct BacklogTests {
    private let codec = SlowCodec()
    private let fetched = Guarded(0)

    private func settle() async { for _ in 0..<500 { await Task.yield() } }

    private func pipeline(
        _ downloader: any Downloading, disk: (any DataCaching)? = nil, limit: Int
    ) -> ImagePipeline {
        ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader, codecs: codec.registry, diskCache: disk, maxConcurrentDecodes: 1,
                maximumEncodedByteCount: limit))
    }

    private func start(_ pipeline: ImagePipeline, _ requests: [ImageRequest]) -> [Task<Void, any Error>] {
        requests.map { request in Task { _ = try await pipeline.load(request) } }
    }

    private func end(_ loads: [Task<Void, any Error>]) async throws {
        for _ in loads { codec.gate.signal() }
        for load in loads { try await load.value }
    }

    /// 100 bytes each, counted when they are asked for.
    private func source(_ number: Int) -> ImageSource {
        .provider(identity: "\(number)") { [fetched] in
            fetched.change { $0 += 1 }
            return Data(repeating: 1, count: 100)
        }
    }

    @Test func `sources are not asked while too many bytes wait`() async throws {
        let downloader = Downloader(transport: FakeTransport.offline)
        let pipeline = pipeline(downloader, limit: 1000)
        // One by one, so that what has begun when the limit is reached is one.
        var loads: [Task<Void, any Error>] = []
        for number in 0..<10 {
            loads += start(pipeline, [ImageRequest(source: source(number))])
            while fetched.value <= number { await Task.yield() }
            await settle()
        }
        loads += start(pipeline, (10..<40).map { ImageRequest(source: source($0)) })
        await settle()

        #expect(fetched.value == 10)
        try await end(loads)
        #expect(fetched.value == 40)
    }

    @Test func `sources that are asked for all at once are let in a few at a time`() async throws {
        let downloader = FakeDownloader { [fetched] request, _ in
            try await request.admission?()
            fetched.change { $0 += 1 }
            return Download(data: Data(repeating: 1, count: 100))
        }
        // Before any has come each counts as a 256th of all.
        let pipeline = pipeline(downloader, limit: 25_600)
        let loads = start(pipeline, try (0..<600).map { try web("\($0)") })
        while fetched.value < 256 { await Task.yield() }
        await settle()

        let atFirst = fetched.value
        #expect(atFirst == 256)
        codec.gate.signal()
        while codec.begun.value.count < 2 { await Task.yield() }
        await settle()
        // The place of one is not for everybody.
        #expect(fetched.value <= atFirst + 1)
        try await end(loads)
        #expect(fetched.value == 600)
    }

    @Test func `files beyond those that are read at once wait`() async throws {
        let folder = try TemporaryDirectory()
        for number in 0..<40 {
            try Data(repeating: 1, count: 1000).write(to: folder.url.appending(path: "\(number)"))
        }
        let downloader = Downloader(transport: FakeTransport.offline)
        let read = Guarded(0)
        let counting = FakeDownloader { request, _ in
            let download = try await downloader.download(request)
            read.change { $0 += download.data.count }
            return download
        }
        let pipeline = pipeline(counting, limit: 2000)
        let loads = start(
            pipeline, (0..<40).map { ImageRequest(source: .file(folder.url.appending(path: "\($0)").path)) })
        while read.value < 2000 { await Task.yield() }
        await settle()

        // Four are read at once, and each of those may have begun before the limit was reached.
        #expect(read.value < 2000 + 4 * 1000)
        try await end(loads)
        #expect(read.value == 40_000)
    }

    @Test func `the disk cache is not read while too many bytes wait`() async throws {
        let disk = FakeDataCache()
        let requests = try (0..<60).map { try web("\($0)") }
        for request in requests { try await disk.store(Data(repeating: 1, count: 1000), for: request.originalKey) }
        let pipeline = pipeline(FakeDownloader(giving: Data()), disk: disk, limit: 2000)
        let loads = start(pipeline, requests)
        while disk.reads.value < 2 { await Task.yield() }
        await settle()

        #expect(disk.reads.value <= 2 + 16)
        try await end(loads)
        #expect(disk.reads.value >= 60)
    }

    @Test func `the more urgent is let in first`() async throws {
        let downloader = FakeDownloader { request, _ in
            try await request.admission?()
            guard case .http(let http) = request.source, let level = UInt8(http.url.lastPathComponent) else {
                throw HTTPTransportError(.failed, "not a level")
            }
            return Download(data: Data(repeating: level, count: 100))
        }
        let pipeline = pipeline(downloader, limit: 100)
        let first = start(pipeline, [try web("1")])
        while codec.begun.value.isEmpty { await Task.yield() }
        var later: [Task<Void, any Error>] = []
        for (level, priority) in [(7, LoadPriority.low), (8, .normal), (9, .veryHigh)] {
            later += start(pipeline, [try web("\(level)") { $0.priority = priority }])
            await settle()
        }

        try await end(first + later)

        #expect(codec.begun.value == [1, 9, 8, 7])
    }

    @Test func `who waits for room can leave`() async throws {
        let downloader = Downloader(transport: FakeTransport.offline)
        let pipeline = pipeline(downloader, limit: 100)
        let first = start(pipeline, [ImageRequest(source: source(0))])
        while codec.begun.value.isEmpty { await Task.yield() }
        let second = start(pipeline, [ImageRequest(source: source(1))])
        await settle()
        second[0].cancel()

        await #expect(throws: CancellationError.self) { try await second[0].value }
        try await end(first)
        #expect(fetched.value == 1)
    }

    @Test func `what is on disk and damaged does not wait for itself`() async throws {
        let disk = FakeDataCache()
        let request = try web("damaged")
        try await disk.store(Data(repeating: UInt8(ascii: "?"), count: 1000), for: request.originalKey)
        let downloader = FakeDownloader { request, _ in
            try await request.admission?()
            return Download(data: Data(repeating: 1, count: 1000))
        }
        let pipeline = pipeline(downloader, disk: disk, limit: 100)
        for _ in 0..<2 { codec.gate.signal() }

        _ = try await pipeline.load(request)

        #expect(codec.begun.value == [UInt8(ascii: "?"), 1])
    }
}
