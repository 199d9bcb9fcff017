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
    /// With an executor, calls ignore their cancellation.
    var stubbornExecutor: ManualExecutor?

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
            try await waitUntilOpen()
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

    private func waitUntilOpen() async throws {
        guard let stubbornExecutor else { return try await isOpen.waitUntil { $0 } }
        // A task that is awaited is not canceled with its waiter.
        try await Task(executorPreference: stubbornExecutor) { [isOpen] in try await isOpen.waitUntil { $0 } }.value
    }
}

/// Encodes an image as "remote:N", or fails. For images of one level it hangs until it is canceled.
private struct RemoteEncoder: AsyncImageEncoding {
    var format = Service.format
    var byteCount = 1
    var error: (any Error & Sendable)?
    var hangingLevel: UInt8?
    let encodes = Watched(0)
    let canceled = Watched(0)

    func encodingByteCount(of image: DecodedImage) -> Int { byteCount }

    func encode(_ image: DecodedImage) async throws -> Data {
        encodes.update { $0 += 1 }
        if image.level == hangingLevel {
            defer { canceled.update { $0 += 1 } }
            try await Watched(false).waitUntil { $0 }
        }
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
        _ entry: CodecRegistry.Entry, limit: Int = 100, timeout: Duration? = nil, policy: DataCachePolicy = .original,
        maximumPendingWriteByteCount: Int = 16 << 20
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
                maximumDecodingByteCount: limit, maximumPendingWriteByteCount: maximumPendingWriteByteCount,
                asyncCodecTimeout: timeout, taskExecutor: executor))
    }

    /// Returns a request that stores an image of one level more than its source.
    private func brighter(_ path: String, _ serializer: (any CacheSerializer)? = nil) throws -> ImageRequest {
        try web(path) {
            $0.processors = [Brighten(step: 1)]
            $0.serializer = serializer
        }
    }

    /// Returns the codec of a service that is open, with an encoder.
    private func remote(_ encoder: RemoteEncoder) -> CodecRegistry.Entry {
        var entry = Service(isOpen: true).entry
        entry.makeAsyncEncoder = { _ in encoder }
        return entry
    }

    /// Starts work on the executor, and counts its end.
    private func start<Value: Sendable>(
        _ ends: Watched<Int>, _ work: @escaping @Sendable () async throws -> Value
    ) -> Task<Value, any Error> {
        let task = Task(executorPreference: executor) {
            defer { ends.update { $0 += 1 } }
            return try await work()
        }
        executor.drain()
        return task
    }

    private func advance(by duration: Duration) {
        clock.advance(by: duration)
        executor.drain()
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

    @Test(arguments: [nil, Duration.seconds(5)])
    func `the last waiter to leave cancels the decode, and receives CancellationError`(
        timeout: Duration?
    ) async throws {
        let service = Service()
        let pipeline = pipeline(service.entry, timeout: timeout)
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
        #expect(clock.sleeperCount == 0)
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
        advance(by: .seconds(5))

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

    @Test func `an encoder of a request can be asynchronous, without a codec of the pipeline`() async throws {
        let pipeline = pipeline(try #require(local.registry.entries.first), timeout: .seconds(60), policy: .processed)
        func stored(by encoder: RemoteEncoder, _ identifier: String) async throws -> Data? {
            let request = try brighter("level:3", EncoderCacheSerializer(encoder, identifier: identifier))
            _ = try await start(pipeline, request).value
            advance(by: .seconds(60))
            #expect(encoder.encodes.value == 1)
            return disk.entries.value[request.key]?.data
        }

        #expect(try await stored(by: RemoteEncoder(), "remote") == Data("remote:4".utf8))
        #expect(try await stored(by: RemoteEncoder(error: Service.Failure()), "failing") == nil)
        #expect(try await stored(by: RemoteEncoder(hangingLevel: 4), "hanging") == nil)
        let animation = try brighter("anim:3", EncoderCacheSerializer(RemoteEncoder(), identifier: "still"))
        let context = CacheSerializationContext(key: animation.key, codecs: local.registry)
        var image = DecodedImage.gray(side: 1, level: 3)
        #expect(animation.serializer?.asyncEncoder(of: image, original: nil, in: context) != nil)
        image.frames = MadeFrames(image.pixels, image.pixels)
        #expect(animation.serializer?.asyncEncoder(of: image, original: nil, in: context) == nil)
    }

    // MARK: Hanging services

    @Test func `by default an image cache ends a decode that hangs after a minute, and keeps the bytes`() async throws {
        let service = Service()
        let cache = ImageCache(
            codecs: local.registry.adding(service.entry), diskCache: disk, clock: clock, taskExecutor: executor)
        let key = ImageCache.imageKey("a")
        disk.entries.update { $0[key] = CachedData(Data("remote:7".utf8)) }
        let ends = Watched(0)
        let read = start(ends) { try await cache.image(forKey: "a") }
        advance(by: .seconds(59))
        #expect(service.use.value.running == 1)
        #expect(ends.value == 0)

        advance(by: .seconds(1))

        #expect(ends.value == 1)
        let error = await #expect(throws: ImageDecodingError.self) { try await read.value }
        #expect(error?.code == .timedOut)
        #expect(service.use.value.canceled == 1)
        #expect(disk.entries.value[key] != nil)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a decoder that ignores its cancellation holds its memory, and not its load`() async throws {
        var service = Service()
        service.byteCount = 60
        service.stubbornExecutor = executor
        let pipeline = pipeline(service.entry, timeout: .seconds(5))
        let ends = Watched(0)
        let load = start(ends) { try await pipeline.load(try web("a")) }
        advance(by: .seconds(5))
        #expect(ends.value == 1)
        #expect(try await failure(load).code == .decoding(.timedOut))
        #expect(service.use.value.running == 1)
        let next = start(pipeline, try web("b"))
        #expect(service.use.value.begun == 1)

        open(service)

        #expect(try await next.value.image.level == 7)
        #expect(service.use.value.begun == 2)
        #expect(service.use.value.most == 1)
    }

    @Test func `an encoder that ignores its cancellation holds its memory and its image until it returns`()
        async throws
    {
        /// Encodes when the gate is open, whether canceled or not.
        struct StubbornEncoder: AsyncImageEncoding {
            let format = Service.format
            let gate: Watched<Bool>
            let executor: ManualExecutor

            func encodingByteCount(of image: DecodedImage) -> Int { 30 }

            func encode(_ image: DecodedImage) async throws -> Data {
                try await Task(executorPreference: executor) { [gate] in try await gate.waitUntil { $0 } }.value
                return Data()
            }
        }
        let pipeline = pipeline(Service().entry, timeout: .seconds(5))
        let image = DecodedImage.gray(side: 1, level: 5)
        let (ends, gate) = (Watched(0), Watched(false))
        let stubborn = StubbornEncoder(gate: gate, executor: executor)
        let encode = start(ends) { try await pipeline.encode(image, to: stubborn) }
        advance(by: .seconds(5))
        #expect(ends.value == 1)
        let error = await #expect(throws: ImageEncodingError.self) { try await encode.value }
        #expect(error?.code == .failed)

        let rest = 100 - 30 - image.cost
        let (fitting, larger) = (RemoteEncoder(byteCount: rest), RemoteEncoder(byteCount: rest + 1))
        for encoder in [fitting, larger] { _ = start(ends) { try await pipeline.encode(image, to: encoder) } }
        #expect(fitting.encodes.value == 1)
        #expect(larger.encodes.value == 0)
        gate.update { $0 = true }
        executor.drain()
        #expect(larger.encodes.value == 1)
        #expect(ends.value == 3)
    }

    @Test func `by default a pipeline has the same limit of time for asynchronous codecs`() {
        let configuration = ImagePipeline.Configuration(
            downloader: FakeDownloader(giving: Data()), codecs: local.registry)
        #expect(configuration.asyncCodecTimeout == .seconds(60))
    }

    @Test func `in an image cache an encoder that hangs delays what follows for its image, for a limited time`()
        async throws
    {
        let encoder = RemoteEncoder(hangingLevel: 9)
        let cache = ImageCache(
            codecs: local.registry.adding(remote(encoder)), memoryCache: memory, diskCache: disk,
            serializer: DefaultCacheSerializer(format: Service.format), asyncCodecTimeout: .seconds(5), clock: clock,
            taskExecutor: executor)
        let (others, ends) = (Watched(0), Watched(0))
        let store = start(ends) {
            try await cache.store(.gray(side: 1, level: 9), original: level(3), forKey: "a")
        }
        let removal = start(ends) { await cache.remove(forKey: "a") }
        let flush = start(ends) { await cache.flush() }
        let next = start(others) { try await cache.store(.gray(side: 1, level: 8), forKey: "b") }
        let read = start(others) { try await cache.image(forKey: "b")?.image.level }
        #expect(others.value == 2)
        #expect(ends.value == 0)
        #expect(try await next.value)
        #expect(try await read.value == 8)
        #expect(disk.entries.value[ImageCache.imageKey("b")]?.data == Data("remote:8".utf8))
        #expect(memory.image(for: ImageCache.imageKey("a")) == nil)

        advance(by: .seconds(5))

        #expect(encoder.canceled.value == 1)
        #expect(ends.value == 3)
        // Another codec has written the image, which was then removed.
        #expect(try await store.value)
        #expect(try await removal.value)
        try await flush.value
        #expect(disk.entries.value[ImageCache.imageKey("a")] == nil)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a write whose encoder hangs blocks no other write, and flushes and removals for a limited time`()
        async throws
    {
        let encoder = RemoteEncoder(hangingLevel: 8)
        // Processors that need more than the whole budget would wait for the encoder.
        let pipeline = pipeline(remote(encoder), limit: 1_000, timeout: .seconds(60), policy: .processed)
        let (hanging, other) = (try brighter("a"), try brighter("remote:20"))
        for request in [hanging, other] { _ = try await start(pipeline, request).value }
        #expect(encoder.encodes.value == 2)
        #expect(disk.entries.value[other.key]?.data == Data("remote:21".utf8))

        let ends = Watched(0)
        let waits = [
            start(ends) { await pipeline.flush() }, start(ends) { await pipeline.cache.remove(hanging) },
            start(ends) { await pipeline.cache.removeAll() },
        ]
        #expect(ends.value == 0)
        advance(by: .seconds(10))
        #expect(ends.value == waits.count)
        #expect(encoder.canceled.value == 0)
        #expect(disk.count == 0)

        // The write ends with its encoder, and stores nothing after the removal.
        advance(by: .seconds(50))
        #expect(encoder.canceled.value == 1)
        #expect(disk.count == 0)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `writes whose encoder hangs count as pending until its time is over, and hold up one load`()
        async throws
    {
        let encoder = RemoteEncoder(hangingLevel: 8)
        // A write counts 4 KiB and its bytes, as does the check for responses that vary while it runs: two writes fit.
        let pipeline = pipeline(
            remote(encoder), limit: 1_000, timeout: .seconds(60), policy: .processed,
            maximumPendingWriteByteCount: 4 * 4_096 - 1)
        let finished = { log.words.count { $0 == "finished network" } }
        for name in ["a", "b"] { _ = try await start(pipeline, try brighter(name)).value }
        let third = start(pipeline, try brighter("c"))
        #expect(finished() == 2)
        advance(by: .seconds(10))
        #expect(finished() == 3)
        _ = try await third.value
        // From now on no load waits, and no further image is kept.
        for name in ["x", "y"] {
            let load = start(pipeline, try brighter(name))
            let rejection = "disk write failed: the disk cache is stalled, and its write queue is full"
            #expect(log.words.suffix(2) == [rejection, "finished network"])
            _ = try await load.value
        }
        #expect(encoder.encodes.value == 3)
        #expect(encoder.canceled.value == 0)

        advance(by: .seconds(60))

        #expect(encoder.canceled.value == 3)
        for name in ["a", "b", "c"] {
            let request = try brighter(name)
            #expect(disk.entries.value[request.key]?.data == level(8))
        }
        // The next two fit again.
        let loads = try ["d", "e"].map { start(pipeline, try brighter($0)) }
        #expect(finished() == 7)
        for load in loads { _ = try await load.value }
        advance(by: .seconds(60))
        #expect(encoder.canceled.value == 5)
    }
}
