import Alcedo
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Synchronization
import Testing

/// Stacks of parts of another package, without package access.
@Suite(.timeLimit(.minutes(10)))
struct StackTests {
    private let origin: LoopbackOrigin
    private let request: ImageRequest

    init() throws {
        let file = try ImageEncoder.png().encode(.coordinates(PixelSize(width: 8, height: 8)))
        origin = try LoopbackOrigin { request in
            .ok(
                file, type: "image/png", fields: request.path == "/dated.png" ? ["Cache-Control": "max-age=86400"] : [:]
            )
        }
        request = ImageRequest(url: origin.url(for: "/a.png"), processors: [PlugInProcessor()])
    }

    private func firstPixel(_ image: DecodedImage) -> [UInt8] {
        image.pixels.withUnsafeBytes { Array($0.prefix(4)) }
    }

    @Test func `a pipeline of parts of another package loads, keeps and removes an image`() async throws {
        let (memory, disk) = (PlugInMemoryCache(costLimit: 1 << 20), PlugInDataCache(sizeLimit: 1 << 20))
        var configuration = ImagePipeline.Configuration(
            downloader: PlugInDownloader(transport: PlugInTransport()), codecs: .standard)
        configuration.memoryCache = memory
        configuration.diskCache = disk
        // Nothing but the caches keeps an image.
        configuration.intermediateByteLimit = 0
        let pipeline = ImagePipeline(configuration)

        let loaded = try await pipeline.load(request)
        #expect(loaded.layer == .network)
        #expect(loaded.httpResponse?.status == 200)
        #expect(firstPixel(loaded.image) == [128, 0, 0, 255])
        #expect(try await pipeline.load(request).layer == .memory)
        await pipeline.flush()
        memory.removeAll()
        #expect(try await pipeline.load(request).layer == .disk)
        await pipeline.cache.removeAll()
        #expect(memory.totalCost == 0)
        #expect(await disk.count == 0)
        #expect(try await pipeline.load(request).layer == .network)
        #expect(origin.requestCount(for: "/a.png") == 2)
    }

    @Test func `a response cache of another package forbids copies on disk`() async throws {
        let responses = PlugInResponseCache(network: PlugInTransport())
        let disk = PlugInDataCache(sizeLimit: 1 << 20)
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: PlugInDownloader(transport: responses, responseCache: responses), codecs: .standard,
                diskCache: disk))

        for _ in 0..<2 { #expect(try await pipeline.load(request).layer == .network) }
        await pipeline.flush()
        #expect(origin.requestCount(for: "/a.png") == 1)
        #expect(await disk.count == 0)
        #expect(await pipeline.cache.contains(request) == .response)

        await pipeline.cache.removeAll()
        #expect(await pipeline.cache.contains(request) == [])
        _ = try await pipeline.load(request)
        #expect(origin.requestCount(for: "/a.png") == 2)
    }

    @Test func `the status of a failed load is that of another package's downloader`() async throws {
        let missing = try LoopbackOrigin { _ in .status(404) }
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: PlugInDownloader(transport: PlugInTransport()), codecs: .standard))

        let error = await #expect(throws: PipelineError.self) { try await pipeline.image(for: missing.url(for: "/a")) }

        #expect(error?.httpStatus == 404)
    }

    @Test func `a caching transport keeps its responses in a store of another package`() async throws {
        let store = PlugInResponseStore(byteLimit: 1 << 20)
        let transport = CachingTransport(
            wrapping: PlugInTransport(), cache: URLResponseCache(memoryLimit: 0, store: store))
        let url = origin.url(for: "/dated.png")

        for source in [ResponseSource.new, .fresh] {
            let response = try await transport.send(HTTPRequest(url: url))
            _ = try await response.body.collect(limit: 1 << 20)
            await transport.finish()
            #expect(response.responseSource == source)
        }
        #expect(origin.requestCount(for: "/dated.png") == 1)
    }

    @Test func `a data cache of another package is listed, trimmed and observed`() async throws {
        let cache = PlugInDataCache(sizeLimit: 100)
        let removed = Mutex<[String]>([])
        let observation = cache.observeTrims { report in
            removed.withLock { $0 += report.removals.map(\.name) }
        }
        let keys = ["a", "b"].map { ImageKey(ResourceKey($0)) }
        for key in keys { try await cache.store(CachedData(Data(count: 40)), for: key) }

        let maintenance: any MaintainableDataCache = try #require((cache as any MeasurableDataCache).maintenance)
        #expect(await maintenance.items().map(\.name) == keys.map(\.fileName))
        #expect(await maintenance.key(named: keys[1].fileName) == keys[1])
        let report = await maintenance.trim(toSize: 40, count: nil)

        #expect(report.removals.map(\.evictionReason) == [.trimmed])
        #expect(removed.withLock { $0 } == [keys[0].fileName])
        #expect(maintenance.statistics.stores == 2)
        withExtendedLifetime(observation) {}
    }

    /// A loader that counts the loads of another one.
    private final class CountingLoader: ImageLoading {
        private let loader: any ImageLoading
        private let count = Mutex(0)

        init(_ loader: any ImageLoading) { self.loader = loader }

        var loadCount: Int { count.withLock { $0 } }

        func cachedImage(for request: ImageRequest) -> DecodedImage? { loader.cachedImage(for: request) }

        func load(
            _ request: ImageRequest, priority: PriorityHandle, onUpdate: @escaping @Sendable (LoadUpdate) -> Void
        ) async throws -> ImageResponse {
            count.withLock { $0 += 1 }
            return try await loader.load(request, priority: priority, onUpdate: onUpdate)
        }
    }

    @Test func `a prefetcher loads with a loader of another package`() async throws {
        let pipeline = ImagePipeline(.standard(cacheDirectory: nil))
        let loader = CountingLoader(pipeline)
        let prefetcher = ImagePrefetcher(loader: loader)

        prefetcher.start([request])
        #expect(try await prefetcher.report().loaded.count == 1)
        prefetcher.start([request])
        #expect(try await prefetcher.report().skipped.count == 1)

        #expect(loader.loadCount == 1)
        #expect(pipeline.cachedImage(for: request) != nil)
    }

    @Test func `the stacks of this package run on the executor of a test`() async throws {
        let (clock, executor) = (ManualClock(), ManualExecutor())
        let file = try ImageEncoder.png().encode(.gray(side: 2))
        let configurations: [ImagePipeline.Configuration] = [
            .standard(cacheDirectory: nil, clock: clock, taskExecutor: executor),
            .afImageDownloader(cacheDirectory: nil, clock: clock, taskExecutor: executor),
        ]
        for configuration in configurations {
            let callCount = Mutex(0)
            let source = ImageSource.provider(identity: "a") {
                callCount.withLock { $0 += 1 }
                return file
            }
            let task = ImagePipeline(configuration).imageTask(with: ImageRequest(source: source))
            #expect(callCount.withLock { $0 } == 0)

            let image = try await executor.drain { try await task.image }

            #expect(image.size == PixelSize(width: 2, height: 2))
            #expect(callCount.withLock { $0 } == 1)
        }
    }

    @Test func `a queue of another package follows the priority of a request`() async throws {
        let request = DownloadRequest(.file("/a"), priority: .low)
        let seen = Mutex<[LoadPriority]>([])

        await request.priority.observing {
            seen.withLock { $0.append(request.priority.value) }
        } _: {
            request.priority.value = .high
        }
        request.priority.value = .low

        #expect(seen.withLock { $0 } == [.high])
    }

    @Test func `a download of another package says where it may be stored`() async throws {
        var response = HTTPResponse(
            head: HTTPResponseHead(url: origin.url(), status: 200), body: HTTPBody(Data([1])))
        response.storagePolicy = .notAllowed
        #expect(Download(data: Data([1]), response: response).storagePolicy == .notAllowed)

        var download = Download(data: Data([1]))
        #expect(download.storagePolicy == nil)
        download.storagePolicy = .allowedInMemoryOnly
        download.responseSource = .stale
        #expect(download.storagePolicy == .allowedInMemoryOnly)
        #expect(download.responseSource == .stale)
    }

    @Test func `a decoder of another package can read each option, and describe the whole image`() {
        let options = DecodingOptions()
        #expect(!options.keepsInks)
        #expect(!options.isFiltered)
        #expect(options.limits.maximumMetadataByteCount == options.limits.maximumChunkByteCount)

        let size = PixelSize(width: 20, height: 10)
        let reduction = ImageReduction(of: size, width: 5, height: 2.5)
        var image = DecodedImage.gray(side: 4)
        image.reduction = reduction
        image.hasInks = true
        #expect(image.reduction?.fullSize == size)
        #expect(ImageInfo(format: .png, size: size, bitDepth: 16, colorModel: .cmyk).colorModel == .cmyk)
    }
}
