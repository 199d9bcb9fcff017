import Alcedo
import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import Testing

/// The smaller protocols, each implemented once without package access.
@Suite(.timeLimit(.minutes(10)))
struct PartTests {
    private let origin: LoopbackOrigin

    init() throws {
        let file = try ImageEncoder.png().encode(.coordinates(PixelSize(width: 8, height: 8)))
        origin = try LoopbackOrigin { _ in .ok(file, type: "image/png") }
    }

    private var request: ImageRequest { ImageRequest(url: origin.url(for: "/a.png")) }

    private func firstPixel(_ image: DecodedImage) -> [UInt8] {
        image.pixels.withUnsafeBytes { Array($0.prefix(4)) }
    }

    @Test(arguments: ProcessorConformance.checks)
    func `a processor of pixels of another package passes each check`(check: ProcessorConformance.Check) async throws {
        try await check { _ in PlugInPointProcessor() }
    }

    @Test(arguments: MemoryCacheConformance.checks)
    func `a memory cache with a policy of another package passes each check`(
        check: MemoryCacheConformance.Check
    ) async throws {
        try await check { ImageMemoryCache(costLimit: $0.byteLimit, policy: .custom(PlugInEvictionPolicy())) }
    }

    @Test func `a policy of another package decides which entry is evicted`() {
        let cache = MemoryCache<String, Int>(costLimit: 2, policy: .custom(PlugInEvictionPolicy()))
        cache.store(1, for: "a", cost: 1)
        cache.store(2, for: "b", cost: 1)
        #expect(cache.value(for: "a") == 1)

        cache.store(3, for: "c", cost: 1)

        #expect(cache.value(for: "a") == nil)
        #expect(cache.value(for: "b") == 2)
        #expect(cache.value(for: "c") == 3)
    }

    @Test func `a pipeline uses the serializer, interceptor, observer and tracer of another package`() async throws {
        let (serializer, observer, tracer) = (PlugInSerializer(), PlugInObserver(), PlugInTracer())
        let memory = PlugInMemoryCache(costLimit: 1 << 20)
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: PlugInDownloader(transport: PlugInTransport()), codecs: .standard, memoryCache: memory,
                diskCache: PlugInDataCache(sizeLimit: 1 << 20), dataCachePolicy: .processed, serializer: serializer,
                interceptors: [PlugInInterceptor()], observers: [observer], tracers: [tracer],
                intermediateByteLimit: 0))

        let loaded = try await pipeline.image(for: request)
        #expect(firstPixel(loaded) == [255, 255, 127, 255])
        await pipeline.flush()
        memory.removeAll()
        let stored = try await pipeline.load(request)

        #expect(stored.layer == .disk)
        #expect(firstPixel(stored.image) == firstPixel(loaded))
        #expect(serializer.writeCount == 1)
        #expect(serializer.readCount == 1)
        #expect(observer.layers.count == 2)
        #expect(observer.layers.last == .disk)
        await pipeline.shutDown()
        #expect(tracer.openCount == 0)
        #expect(tracer.parents(of: "plug-in") == [.load, .load])
        #expect(tracer.parents(of: .memoryLookup) == ["plug-in", "plug-in"])
        #expect(tracer.parents(of: .encode) == [.diskStore])
    }

    @Test func `a cache follows the memory pressure and the clock of another package`() {
        let (pressure, clock) = (PlugInPressureSource(), PlugInClock())
        let cache = MemoryCache<String, Int>(
            costLimit: 10, timeToLive: .seconds(10), pressureSource: pressure, clock: clock)
        cache.store(1, for: "a", cost: 1)
        clock.advance(by: .seconds(9))
        #expect(cache.value(for: "a") == 1)
        clock.advance(by: .seconds(2))
        #expect(cache.value(for: "a") == nil)

        cache.store(2, for: "b", cost: 1)
        pressure.report(.critical)
        #expect(cache.value(for: "b") == nil)
    }

    @Test func `a cache finds a value of another package that is still in use`() {
        let cache = MemoryCache<String, PlugInValue>(costLimit: 1, policy: .lru, findsReferencedValues: true)
        let value = PlugInValue()
        cache.store(value, for: "a", cost: 1)
        cache.store(PlugInValue(), for: "b", cost: 1)

        #expect(cache.value(for: "a") === value)
        withExtendedLifetime(value) {}
    }

    @Test func `an animation of another package is encoded with all its frames`() throws {
        let frames = PlugInFrames(images: [0, 255].map { DecodedImage.gray(side: 2, level: $0).pixels })
        let animation = DecodedImage(pixels: frames.images[0], frames: frames)

        let info = try CodecRegistry.standard.inspect(try ImageEncoder.gif().encode(animation))

        #expect(info.frameCount == 2)
        #expect(info.size == frames.canvasSize)
    }

    @Test func `an image is encoded by another package and decoded again`() throws {
        let entry = CodecRegistry.Entry(
            format: .plugIn, decoder: PlugInDecoder(), signatures: [Array("PLUG".utf8)],
            makeEncoder: { _ in PlugInEncoder() })
        let codecs = CodecRegistry.standard.adding(entry)
        var gray = DecodingOptions()
        gray.pixelFormat = .gray8

        let image = try codecs.decode(PlugInDecoder.file, options: gray)
        #expect(try codecs.encoder(for: .plugIn, quality: 1)?.encode(image) == PlugInDecoder.file)

        var file = Data()
        let rows = PlugInEncoder().makeRowEncoder { bytes in bytes.withUnsafeBytes { file.append(contentsOf: $0) } }
        try codecs.decodeRows(PlugInDecoder.file, options: gray, into: rows)
        #expect(file == PlugInDecoder.file)
    }

    @Test func `a decoder of another package shows the rows that have arrived`() throws {
        let pieces = PlugInDecoder().makeIncrementalDecoder(options: DecodingOptions())
        try pieces.append(PlugInDecoder.file.prefix(6))
        #expect(pieces.info?.size == PixelSize(width: 3, height: 2))
        #expect(try pieces.preview() == nil)

        try pieces.append(Data(PlugInDecoder.file.dropFirst(6).prefix(4)))
        let preview = try #require(try pieces.preview())
        #expect(preview.rowCount == 1)
        #expect(firstPixel(preview.image) == [0, 0, 0, 255])
        #expect(try pieces.preview() == nil)

        try pieces.append(Data(PlugInDecoder.file.dropFirst(10)))
        #expect(try pieces.finish().size == preview.image.size)
    }

    @MainActor @Test func `a binder shows an image in a view of another package`() async throws {
        let view = PlugInView()
        let pipeline = ImagePipeline(.standard(cacheDirectory: nil))
        let binder = ImageBinder(view: view, pipeline: pipeline)

        let response = try await withCheckedThrowingContinuation { continuation in
            binder.load(request) { continuation.resume(with: $0) }
        }

        #expect(view.image?.size == response.image.size)
    }
}
