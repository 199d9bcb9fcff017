import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// A service that decodes "remote:N" to one gray pixel of level N. Each call waits until the test opens the service, or
/// until it is canceled.
private struct Service: AsyncImageDecoding {
    struct Failure: Error {}

    struct Use: Sendable {
        var begun = 0
        var running = 0
        var most = 0
        var canceled = 0
        var priorities: [PriorityHandle] = []
        var targets: [TargetSize?] = []
    }

    static let format = ImageFormat(rawValue: "remote")

    let use = Watched(Use())
    let isOpen: Watched<Bool>
    var byteCount = 1
    var size = PixelSize(width: 1, height: 1)
    var error: (any Error & Sendable)?

    init(isOpen: Bool = false) { self.isOpen = Watched(isOpen) }

    var entry: CodecRegistry.Entry {
        CodecRegistry.Entry(format: Self.format, asyncDecoder: self, signatures: [Array("remote:".utf8)])
    }

    func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        if size.isPositive { try limits.check(size, format: .gray8) }
        return ImageInfo(format: Self.format, size: size, colorModel: .gray)
    }

    func decodingByteCount(_ info: ImageInfo, options: DecodingOptions) -> Int { byteCount }

    func decode(
        _ data: Data, options: DecodingOptions, priority: PriorityHandle
    ) async throws -> DecodedImage {
        use.update {
            $0.begun += 1
            $0.running += 1
            $0.most = max($0.most, $0.running)
            $0.priorities.append(priority)
            $0.targets.append(options.target)
        }
        defer { use.update { $0.running -= 1 } }
        do {
            try await isOpen.waitUntil { $0 }
        } catch {
            use.update { $0.canceled += 1 }
            // As the clients of many services do.
            throw Failure()
        }
        if let error { throw error }
        let level = String(decoding: data, as: UTF8.self).split(separator: ":").last.flatMap { UInt8($0) }
        guard let level else { throw ImageDecodingError(.corrupt, "no level") }
        return .gray(side: 1, level: level)
    }
}

/// Encodes an image as "remote:N", or fails.
private struct RemoteEncoder: AsyncImageEncoding {
    var format = Service.format
    var byteCount = 1
    var error: (any Error & Sendable)?
    let encodes = Watched(0)

    func encodingByteCount(of image: DecodedImage) -> Int { byteCount }

    func encode(_ image: DecodedImage) async throws -> Data {
        encodes.update { $0 += 1 }
        if let error { throw error }
        return Data("remote:\(image.level)".utf8)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct AsyncCodecTests {
    private let executor = ManualExecutor()
    private let clock = ManualClock()
    private let memory = DictionaryMemoryCache()
    private let disk = FakeDataCache()
    private let log = Log()
    private let local = FakeCodec()

    /// A pipeline of one thread whose sources are "remote:7", or the last component of the path if it has a colon.
    private func pipeline(
        _ entry: CodecRegistry.Entry, limit: Int = 100, timeout: Duration? = nil, policy: DataCachePolicy = .original
    ) -> ImagePipeline {
        let downloader = FakeDownloader { request, _ in
            guard case .http(let http) = request.source else { throw CancellationError() }
            let name = http.url.lastPathComponent
            return Download(data: Data((name.contains(":") ? name : "remote:7").utf8))
        }
        return ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader, codecs: local.registry.adding(entry), memoryCache: memory, diskCache: disk,
                dataCachePolicy: policy, observers: [log], clock: clock, maxConcurrentDecodes: 1,
                maximumDecodingByteCount: limit, asyncCodecTimeout: timeout, taskExecutor: executor))
    }

    private func start(_ pipeline: ImagePipeline, _ request: ImageRequest) -> Task<ImageResponse, any Error> {
        let load = Task(executorPreference: executor) { try await pipeline.load(request) }
        executor.drain()
        return load
    }

    private func open(_ service: Service) {
        service.isOpen.update { $0 = true }
        executor.drain()
    }

    private func failure(_ load: Task<ImageResponse, any Error>) async throws -> PipelineError {
        try #require(await #expect(throws: PipelineError.self) { try await load.value })
    }

    // MARK: Decoding

    @Test func `equal requests share one asynchronous decode, and the image is kept in memory`() async throws {
        let service = Service()
        let pipeline = pipeline(service.entry)
        let request = try web("a")
        let loads = [LoadPriority.low, .high, .normal].map { priority in
            var request = request
            request.priority = priority
            return start(pipeline, request)
        }
        #expect(service.use.value.begun == 1)
        #expect(service.use.value.priorities.first?.value == .high)
        open(service)

        for load in loads { #expect(try await load.value.image.level == 7) }
        #expect(try await start(pipeline, request).value.layer == .memory)
        #expect(service.use.value.begun == 1)
        #expect(memory.image(for: request.key)?.format == Service.format)
        #expect(log.words.count { $0.hasPrefix("decoded") } == 1)
    }

    @Test func `a decode that waits for its service holds no decoding thread`() async throws {
        let service = Service()
        let pipeline = pipeline(service.entry)
        let remote = start(pipeline, try web("a"))
        let quick = start(pipeline, try web("level:3"))

        #expect(try await quick.value.image.level == 3)
        #expect(service.use.value.running == 1)
        open(service)
        #expect(try await remote.value.image.level == 7)
    }

    @Test func `the last waiter to leave cancels the decode, and receives CancellationError`() async throws {
        let service = Service()
        let pipeline = pipeline(service.entry)
        let loads = try (0..<2).map { _ in start(pipeline, try web("a")) }
        loads[0].cancel()
        executor.drain()
        #expect(service.use.value.canceled == 0)

        loads[1].cancel()
        executor.drain()

        #expect(service.use.value.canceled == 1)
        for load in loads { await #expect(throws: CancellationError.self) { try await load.value } }
        // The bytes of the canceled decode are free again.
        var large = service
        large.byteCount = 100
        let next = start(pipeline, try web("b") { $0.codecs = CodecRegistry([large.entry]) })
        #expect(service.use.value.begun == 2)
        open(service)
        _ = try await next.value
    }

    @Test func `asynchronous decodes over the memory budget run one after another`() async throws {
        var service = Service()
        service.byteCount = 60
        let pipeline = pipeline(service.entry)
        let loads = try ["a", "b", "c"].map { start(pipeline, try web($0)) }
        #expect(service.use.value.begun == 1)
        open(service)

        for load in loads { _ = try await load.value }
        #expect(service.use.value.begun == 3)
        #expect(service.use.value.most == 1)
    }

    @Test func `an asynchronous decode that needs more than the whole budget is refused before it begins`()
        async throws
    {
        var service = Service()
        service.byteCount = 101
        let error = try await failure(start(pipeline(service.entry), try web("a")))

        #expect(error.code == .decoding(.exceedsLimit))
        #expect(service.use.value.begun == 0)
    }

    @Test func `an image whose size only the service knows counts as the whole budget`() async throws {
        var service = Service()
        service.size = PixelSize(width: 0, height: 0)
        let pipeline = pipeline(service.entry)
        let loads = try ["a", "b"].map { start(pipeline, try web($0)) }
        #expect(service.use.value.begun == 1)
        open(service)

        for load in loads { #expect(try await load.value.image.level == 7) }
    }

    @Test func `a failure of the service is an error with its cause, and the bytes are not requested again`()
        async throws
    {
        var service = Service(isOpen: true)
        service.error = Service.Failure()
        let pipeline = pipeline(service.entry)
        let request = try web("a")
        try await disk.store(Data("remote:7".utf8), for: request.originalKey)

        let error = try await failure(start(pipeline, request))

        #expect(error.code == .decoding(.decoderUnavailable))
        #expect(error.cause is Service.Failure)
        #expect(service.use.value.begun == 1)
        #expect(disk.entries.value[request.originalKey] != nil)
    }

    @Test func `the decoding error of an asynchronous decoder keeps its code`() async throws {
        var service = Service(isOpen: true)
        service.error = ImageDecodingError(.unsupportedVariant, "as told")
        let error = try await failure(start(pipeline(service.entry), try web("a")))

        #expect(error.code == .decoding(.unsupportedVariant))
    }

    @Test func `a decode that exceeds the time of asynchronous codecs is canceled and fails`() async throws {
        let service = Service()
        let load = start(pipeline(service.entry, timeout: .seconds(5)), try web("a"))
        clock.advance(by: .seconds(5))
        executor.drain()

        #expect(try await failure(load).code == .decoding(.timedOut))
        #expect(service.use.value.canceled == 1)
    }

    @Test func `a request with codecs of its own shares no decode, and the cached image is of either`() async throws {
        let (service, other) = (Service(), Service())
        let pipeline = pipeline(service.entry)
        let (plain, own) = (try web("a"), try web("a") { $0.codecs = CodecRegistry([other.entry]) })
        let loads = [plain, own].map { start(pipeline, $0) }
        #expect(service.use.value.begun == 1)
        #expect(other.use.value.begun == 1)
        open(service)
        open(other)

        for load in loads { _ = try await load.value }
        #expect(try await start(pipeline, own).value.layer == .memory)
    }

    @Test func `processors run after an asynchronous decode, and the decoder receives their target`() async throws {
        struct Small: ImageProcessing {
            var identifier: String { "small" }
            var decodingTarget: TargetSize? { TargetSize(width: 1, height: 1) }

            func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
                .gray(side: 1, level: image.level &+ 1)
            }
        }
        let service = Service(isOpen: true)
        let request = try web("a") { $0.processors = [Small(), Brighten(step: 10)] }
        let response = try await start(pipeline(service.entry, limit: 1 << 20), request).value

        #expect(response.image.level == 18)
        #expect(service.use.value.targets == [TargetSize(width: 1, height: 1)])
    }

    @Test func `a format with decoders of both kinds is decoded by the asynchronous one`() async throws {
        let service = Service(isOpen: true)
        var entry = try #require(local.registry.entries.first)
        entry.asyncDecoder = service
        let response = try await start(pipeline(entry), try web("level:3")).value

        #expect(response.image.level == 3)
        #expect(service.use.value.begun == 1)
        #expect(local.decodes.value == 0)
        #expect(try CodecRegistry([entry]).decode(level(4)).level == 4)
    }

    @Test func `synchronous callers can inspect what only an asynchronous decoder decodes`() async throws {
        let service = Service()
        let registry = CodecRegistry([service.entry])
        let data = Data("remote:7".utf8)

        #expect(try registry.inspect(data).size == PixelSize(width: 1, height: 1))
        let error = #expect(throws: ImageDecodingError.self) { try registry.decode(data) }
        #expect(error?.code == .decoderUnavailable)
        let pipeline = pipeline(service.entry)
        let request = try web("a")
        let bytes = Task(executorPreference: executor) { try await pipeline.data(for: request) }
        executor.drain()
        #expect(try await bytes.value == data)
        #expect(service.use.value.begun == 0)
    }

    // MARK: Encoding

    @Test func `a pipeline encodes by an asynchronous encoder within its memory budget`() async throws {
        let pipeline = pipeline(Service().entry)
        let encode = { (encoder: RemoteEncoder) in
            let task = Task(executorPreference: executor) {
                try await pipeline.encode(.gray(side: 1, level: 5), to: encoder)
            }
            executor.drain()
            return task
        }

        #expect(try await encode(RemoteEncoder()).value == Data("remote:5".utf8))
        let large = RemoteEncoder(byteCount: 101)
        let error = await #expect(throws: ImageEncodingError.self) { try await encode(large).value }
        #expect(error?.code == .exceedsLimit)
        #expect(large.encodes.value == 0)
        await #expect(throws: Service.Failure.self) {
            try await encode(RemoteEncoder(error: Service.Failure())).value
        }
    }

    /// Loads an image with a processor, and returns the bytes of the processed image on disk.
    private func stored(by encoder: RemoteEncoder, _ service: Service) async throws -> Data? {
        var entry = service.entry
        entry.makeAsyncEncoder = { _ in encoder }
        let pipeline = pipeline(entry, policy: .processed)
        let request = try web("a") { $0.processors = [Brighten(step: 1)] }
        _ = try await start(pipeline, request).value
        await executor.drain { await pipeline.flush() }
        return disk.entries.value[request.key]?.data
    }

    @Test func `a processed image is stored on disk by the asynchronous encoder, and read by the decoder`()
        async throws
    {
        let service = Service(isOpen: true)
        #expect(try await stored(by: RemoteEncoder(), service) == Data("remote:8".utf8))

        memory.removeAll()
        let request = try web("a") { $0.processors = [Brighten(step: 1)] }
        let response = try await start(pipeline(service.entry, policy: .processed), request).value
        #expect(response.layer == .disk)
        #expect(response.image.level == 8)
        #expect(service.use.value.begun == 2)
    }

    @Test func `a processed image is stored by another codec when the asynchronous encoder fails`() async throws {
        let encoder = RemoteEncoder(error: Service.Failure())
        #expect(try await stored(by: encoder, Service(isOpen: true)) == level(8))
        #expect(encoder.encodes.value == 1)
    }

    @Test func `the serializer of a request writes and reads by asynchronous codecs`() async throws {
        let service = Service(isOpen: true)
        var entry = service.entry
        entry.makeAsyncEncoder = { _ in RemoteEncoder() }
        let request = try web("level:3") { $0.serializer = DefaultCacheSerializer(format: Service.format) }
        let writer = pipeline(entry, policy: .processed)
        _ = try await start(writer, request).value
        await executor.drain { await writer.flush() }
        #expect(disk.entries.value[request.key]?.data == Data("remote:3".utf8))
        #expect(service.use.value.begun == 0)

        memory.removeAll()
        let response = try await start(pipeline(entry, policy: .processed), request).value
        #expect(response.layer == .disk)
        #expect(response.image.level == 3)
        #expect(service.use.value.begun == 1)
    }

    @Test func `an encoder of a request reads by the asynchronous decoder of its bytes`() async throws {
        let service = Service(isOpen: true)
        let request = try web("a") {
            $0.processors = [Brighten(step: 1)]
            $0.serializer = EncoderCacheSerializer(FakeEncoder(), identifier: "fake")
        }
        try await disk.store(Data("remote:9".utf8), for: request.key)

        let response = try await start(pipeline(service.entry, policy: .processed), request).value

        #expect(response.layer == .disk)
        #expect(response.image.level == 9)
    }

    @Test func `stored bytes stay on disk when the service that reads them fails`() async throws {
        var service = Service(isOpen: true)
        _ = try await stored(by: RemoteEncoder(), service)
        memory.removeAll()
        let request = try web("a") { $0.processors = [Brighten(step: 1)] }
        service.error = Service.Failure()

        let error = try await failure(start(pipeline(service.entry, policy: .processed), request))

        #expect(error.code == .decoding(.decoderUnavailable))
        #expect(disk.entries.value[request.key]?.data == Data("remote:8".utf8))
    }

    @Test func `an image cache stores and reads by asynchronous codecs`() async throws {
        let service = Service(isOpen: true)
        var entry = service.entry
        entry.makeAsyncEncoder = { _ in RemoteEncoder() }
        let cache = ImageCache(
            codecs: local.registry.adding(entry), diskCache: disk,
            serializer: DefaultCacheSerializer(format: Service.format), taskExecutor: executor)
        let image = try await executor.drain {
            _ = try await cache.store(.gray(side: 1, level: 9), forKey: "a")
            return try await cache.image(forKey: "a")?.image
        }

        #expect(image?.level == 9)
        #expect(disk.entries.value[ImageCache.imageKey("a")]?.data == Data("remote:9".utf8))
        #expect(service.use.value.begun == 1)
    }
}
