import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// A decode lasts until no other work is possible, because each decode drains the executor of its pipeline.
private struct SlowCodec: ImageDecoding {
    let executor: ManualExecutor
    /// The loads that began, by the first byte of their data.
    let begun = Watched([UInt8]())
    /// Called in the first decodes, one in each.
    let meanwhile = Watched<[@Sendable () -> Void]>([])

    var registry: CodecRegistry {
        CodecRegistry([CodecRegistry.Entry(format: ImageFormat(rawValue: "slow"), decoder: self) { _ in true }])
    }

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        let info = ImageInfo(format: ImageFormat(rawValue: "slow"), size: PixelSize(width: 1, height: 1))
        return WholeImageReader(info) { _ throws(ImageDecodingError) in try image(data) }
    }

    private func image(_ data: Data) throws(ImageDecodingError) -> DecodedImage {
        begun.update { $0.append(data.first ?? 0) }
        executor.drain()
        let body = meanwhile.update { $0.isEmpty ? nil : $0.removeFirst() }
        body?()
        executor.drain()
        if data.first == UInt8(ascii: "?") { throw ImageDecodingError(.corrupt, "damaged") }
        return .gray(side: 1, level: 1)
    }
}

/// The encoded bytes that wait for a decoder are bounded, whatever their source.
@Suite(.timeLimit(.minutes(10)))
struct EncodedByteBudgetTests {
    private let executor = ManualExecutor()
    private let codec: SlowCodec
    private let fetched = Watched(0)

    init() { codec = SlowCodec(executor: executor) }

    private func pipeline(
        _ downloader: any Downloading, disk: (any DataCaching)? = nil, limit: Int
    ) -> ImagePipeline {
        ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader, codecs: codec.registry, diskCache: disk, maxConcurrentDecodes: 1,
                maximumEncodedByteCount: limit, taskExecutor: executor))
    }

    private var local: Downloader {
        var configuration = DownloaderConfiguration()
        configuration.taskExecutor = executor
        return Downloader(transport: FakeTransport.offline, configuration: configuration)
    }

    private func start(_ pipeline: ImagePipeline, _ requests: [ImageRequest]) -> [Task<Void, any Error>] {
        requests.map { request in Task(executorPreference: executor) { _ = try await pipeline.load(request) } }
    }

    /// Runs all loads to their end, and `bodies` within the first decodes.
    private func end(_ loads: [Task<Void, any Error>], _ bodies: [@Sendable () -> Void]) async throws {
        codec.meanwhile.update { $0 = bodies }
        executor.drain()
        #expect(codec.meanwhile.value.isEmpty)
        for load in loads { try await load.value }
    }

    /// A source of 100 bytes that counts its reads.
    private func source(_ number: Int) -> ImageSource {
        .provider(identity: "\(number)") { [fetched] in
            fetched.update { $0 += 1 }
            return Data(repeating: 1, count: 100)
        }
    }

    @Test func `sources are not read while the byte budget is exhausted`() async throws {
        let pipeline = pipeline(local, limit: 1000)
        let others = Watched<[Task<Void, any Error>]>([])
        let first = start(pipeline, [ImageRequest(source: source(0))])

        try await end(
            first,
            [
                {
                    // One by one, so that exactly one has begun when the limit is reached.
                    for number in 1..<10 {
                        let load = start(pipeline, [ImageRequest(source: source(number))])
                        others.update { $0 += load }
                        executor.drain()
                        #expect(fetched.value == number + 1)
                    }
                    let loads = start(pipeline, (10..<40).map { ImageRequest(source: source($0)) })
                    others.update { $0 += loads }
                    executor.drain()
                    #expect(fetched.value == 10)
                }
            ])

        for load in others.value { try await load.value }
        #expect(fetched.value == 40)
    }

    @Test func `concurrent sources are admitted a few at a time`() async throws {
        let downloader = FakeDownloader { [fetched] request, _ in
            try await request.admission?()
            fetched.update { $0 += 1 }
            return Download(data: Data(repeating: 1, count: 100))
        }
        // Before any has arrived, each counts as 1/256 of the limit.
        let pipeline = pipeline(downloader, limit: 25_600)
        let loads = start(pipeline, try (0..<600).map { try web("\($0)") })

        try await end(
            loads,
            [
                { #expect(fetched.value == 256) },
                // One slot does not admit all waiters.
                { #expect(fetched.value <= 257) },
            ])

        #expect(fetched.value == 600)
    }

    @Test func `files over the number of concurrent reads wait`() async throws {
        let directory = try TemporaryDirectory()
        for number in 0..<40 {
            try Data(repeating: 1, count: 1000).write(to: directory.url.appending(path: "\(number)"))
        }
        let downloader = local
        let read = Watched(0)
        let counting = FakeDownloader { request, _ in
            let download = try await downloader.download(request)
            read.update { $0 += download.data.count }
            return download
        }
        let pipeline = pipeline(counting, limit: 2000)
        let loads = start(
            pipeline, (0..<40).map { ImageRequest(source: .file(directory.url.appending(path: "\($0)").path)) })

        // Four are read concurrently, and each of those may have begun before the limit was reached.
        try await end(loads, [{ #expect((2000..<2000 + 4 * 1000).contains(read.value)) }])

        #expect(read.value == 40_000)
    }

    @Test func `the disk cache is not read while the byte budget is exhausted`() async throws {
        let disk = FakeDataCache()
        let requests = try (0..<60).map { try web("\($0)") }
        for request in requests { try await disk.store(Data(repeating: 1, count: 1000), for: request.originalKey) }
        let pipeline = pipeline(FakeDownloader(giving: Data()), disk: disk, limit: 2000)
        let loads = start(pipeline, requests)

        try await end(loads, [{ #expect((2...2 + 16).contains(disk.reads.value)) }])

        #expect(disk.reads.value >= 60)
    }

    @Test func `the highest priority is admitted first`() async throws {
        let downloader = FakeDownloader { request, _ in
            try await request.admission?()
            guard case .http(let http) = request.source, let level = UInt8(http.url.lastPathComponent) else {
                throw HTTPTransportError(.failed, "not a level")
            }
            return Download(data: Data(repeating: level, count: 100))
        }
        let pipeline = pipeline(downloader, limit: 100)
        let requests = try [(7, LoadPriority.low), (8, .normal), (9, .veryHigh)].map { level, priority in
            try web("\(level)") { $0.priority = priority }
        }
        let first = start(pipeline, [try web("1")])
        let later = Watched<[Task<Void, any Error>]>([])

        try await end(
            first,
            [
                {
                    for request in requests {
                        let load = start(pipeline, [request])
                        later.update { $0 += load }
                        executor.drain()
                    }
                }
            ])

        for load in later.value { try await load.value }
        #expect(codec.begun.value == [1, 9, 8, 7])
    }

    @Test func `prefetches that wait for bytes hold no slot that a visible image needs`() async throws {
        let disk = FakeDataCache()
        let prefetches = try (0..<16).map { number in try web("\(number)") { $0.priority = .low } }
        let visible = try web("visible") { $0.priority = .veryHigh }
        for request in prefetches { try await disk.store(Data(repeating: 2, count: 100), for: request.originalKey) }
        try await disk.store(Data(repeating: 9, count: 100), for: visible.originalKey)
        let pipeline = pipeline(FakeDownloader(giving: Data(repeating: 1, count: 100)), disk: disk, limit: 100)
        let later = Watched<[Task<Void, any Error>]>([])

        try await end(
            start(pipeline, [try web("first")]),
            [
                {
                    for requests in [prefetches, [visible]] {
                        let loads = start(pipeline, requests)
                        later.update { $0 += loads }
                        executor.drain()
                    }
                }
            ])

        for load in later.value { try await load.value }
        #expect(codec.begun.value.prefix(2) == [1, 9])
    }

    @Test func `a waiter for the byte budget can be canceled`() async throws {
        let pipeline = pipeline(local, limit: 100)
        let first = start(pipeline, [ImageRequest(source: source(0))])
        let second = Watched<[Task<Void, any Error>]>([])

        try await end(
            first,
            [
                {
                    let load = start(pipeline, [ImageRequest(source: source(1))])
                    second.update { $0 += load }
                    executor.drain()
                    load[0].cancel()
                }
            ])

        for load in second.value { await #expect(throws: CancellationError.self) { try await load.value } }
        #expect(second.value.count == 1)
        #expect(fetched.value == 1)
    }

    @Test func `a damaged entry on disk does not wait for its own bytes`() async throws {
        let disk = FakeDataCache()
        let request = try web("damaged")
        try await disk.store(Data(repeating: UInt8(ascii: "?"), count: 1000), for: request.originalKey)
        let downloader = FakeDownloader { request, _ in
            try await request.admission?()
            return Download(data: Data(repeating: 1, count: 1000))
        }
        let pipeline = pipeline(downloader, disk: disk, limit: 100)

        try await end(start(pipeline, [request]), [])

        #expect(codec.begun.value == [UInt8(ascii: "?"), 1])
    }
}
