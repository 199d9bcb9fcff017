import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// The work of one load of an image that no cache has, counted so that it does not grow unnoticed.
@Suite(.timeLimit(.minutes(10)))
struct OneLoadTests {
    @Test func `a cold load looks up, reads, downloads, decodes and stores as often as it must`() async throws {
        let (memory, disk, codec) = (CountedMemoryCache(), FakeDataCache(), FakeCodec())
        let downloader = FakeDownloader(giving: level(100))
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader, codecs: codec.registry, memoryCache: memory, diskCache: disk))
        let processor = Brighten(step: 1)

        let response = try await pipeline.load(try web("a") { $0.processors = [processor] })
        await pipeline.flush()

        #expect(response.image.level == 101)
        // The finished image before the load is shared, and the decoded image.
        #expect(memory.lookups.value == 2)
        // The same again inside the shared work, because an equal one may have ended in between.
        #expect(memory.probes.value == 2)
        #expect(memory.stores.value == 1)
        #expect(disk.reads.value == 1)
        #expect(downloader.count == 1)
        #expect(codec.decodes.value == 1)
        #expect(processor.runs.value == 1)
        #expect(disk.stores.value == 1)
    }

    @Test func `a cold load begins two tasks before its transport, its own and that of the transfer`() async throws {
        let (executor, clock) = (ManualExecutor(), ManualClock())
        let transport = FakeTransport { request in
            try await clock.sleep(for: .seconds(1))
            return HTTPResponse(head: HTTPResponseHead(url: request.url, status: 200), body: HTTPBody(level(100)))
        }
        var network = DownloaderConfiguration()
        network.taskExecutor = executor
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(transport: transport, configuration: network), codecs: FakeCodec().registry,
                memoryCache: DictionaryMemoryCache(), taskExecutor: executor))
        let request = try web("a")
        let load = Task(executorPreference: executor) { try await pipeline.load(request) }

        // Each task is one job until it waits for another one: those of the caller, the load, in which the decode and
        // the read of the original bytes run, and the transfer.
        #expect(executor.drain() == 3)
        #expect(transport.requests.count == 1)

        clock.advance(by: .seconds(1))
        #expect(try await executor.drain { try await load.value }.image.level == 100)
    }

    @Test func `a cold load reaches its transport on the thread of its caller`() async throws {
        let clock = ManualClock()
        let transport = FakeTransport { request in
            try await clock.sleep(for: .seconds(1))
            return HTTPResponse(head: HTTPResponseHead(url: request.url, status: 200), body: HTTPBody(level(100)))
        }
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(transport: transport), codecs: FakeCodec().registry,
                memoryCache: DictionaryMemoryCache()))
        let request = try web("a")

        // An immediate task runs on this thread until it waits for another one.
        let load = Task.immediate { try await pipeline.load(request) }

        #expect(transport.requests.count == 1)
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        #expect(try await load.value.image.level == 100)
    }

    @Test func `a cold load makes its keys once and opens the bytes once`() async throws {
        let (codec, identifierReads) = (OpeningCodec(), Watched(0))
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: FakeDownloader(giving: level(100), fields: [:]), codecs: codec.registry,
                memoryCache: DictionaryMemoryCache(), diskCache: FakeDataCache()))

        _ = try await pipeline.load(try web("a") { $0.processors = [Named { identifierReads.update { $0 += 1 } }] })
        await pipeline.flush()

        // The keys of the image and of its original are made together. The store asks whether the image is a variant,
        // and the report of the processor has the identifier.
        #expect(identifierReads.value == 3)
        #expect(codec.opens.value == 1)
    }
}

/// Calls a closure whenever its identifier is read, and returns the image unchanged.
private struct Named: ImageProcessing {
    let onRead: @Sendable () -> Void

    var identifier: String {
        onRead()
        return "named"
    }

    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage { image }
}

/// Counts how often its bytes are opened.
private struct OpeningCodec: ImageDecoding {
    private let codec = FakeCodec()
    let opens = Watched(0)

    var registry: CodecRegistry {
        CodecRegistry([
            CodecRegistry.Entry(format: ImageFormat(rawValue: "level"), decoder: self) {
                $0.contains(Array("level:".utf8))
            }
        ])
    }

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        opens.update { $0 += 1 }
        return try codec.open(data, limits: limits)
    }
}

/// Counts the calls of its methods.
private final class CountedMemoryCache: MemoryCaching {
    private let cache = DictionaryMemoryCache()
    let lookups = Watched(0)
    let probes = Watched(0)
    let stores = Watched(0)

    func image(for key: ImageKey) -> DecodedImage? {
        lookups.update { $0 += 1 }
        return cache.image(for: key)
    }

    func contains(_ key: ImageKey) -> Bool {
        probes.update { $0 += 1 }
        return cache.contains(key)
    }

    func store(_ image: DecodedImage, for key: ImageKey) {
        stores.update { $0 += 1 }
        cache.store(image, for: key)
    }

    func remove(_ key: ImageKey) -> Bool { cache.remove(key) }

    func removeAll(of resource: ResourceKey) -> Int { cache.removeAll(of: resource) }

    func removeAll() { cache.removeAll() }
}
