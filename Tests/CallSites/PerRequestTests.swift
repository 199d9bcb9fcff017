import Alcedo
import AlcedoTesting
import FoundationEssentials
import Testing

/// Options of a single request as a user writes them. The comment above a test shows the same with Nuke 12 and with
/// Kingfisher 8.
@Suite(.timeLimit(.minutes(5)))
struct PerRequestTests {
    private let origin: LoopbackOrigin
    private let pipeline: ImagePipeline

    init() throws {
        let png = try ImageEncoder.png().encode(.gray(side: 8))
        origin = try LoopbackOrigin { request in
            switch request.path {
            case "/image.png": .ok(png, type: "image/png")
            case "/fresh.png": .ok(png, type: "image/png", fields: ["Cache-Control": "max-age=600"])
            case "/busy.png" where request.attempt < 3: .status(503)
            case "/busy.png": .ok(png, type: "image/png")
            case "/lost.png" where request.attempt == 1: OriginReply.ok(png).cutting(at: .beforeHead)
            case "/lost.png", "/small.png": .ok(png, type: "image/png")
            case "/private.png": request.fields["Authorization"] == "Bearer 7" ? .ok(png) : .status(401)
            default: .status(404)
            }
        }
        pipeline = .standard(cacheDirectory: nil)
    }

    // Nuke:        var request = URLRequest(url: url)
    //              request.setValue("Bearer 7", forHTTPHeaderField: "Authorization")
    //              let image = try await ImagePipeline.shared.image(for: ImageRequest(urlRequest: request))
    // Kingfisher:  let modifier = AnyModifier { request in
    //                  var request = request
    //                  request.setValue("Bearer 7", forHTTPHeaderField: "Authorization")
    //                  return request }
    //              imageView.kf.setImage(with: url, options: [.requestModifier(modifier)])
    @Test func `a modifier changes the request to the server`() async throws {
        var request = ImageRequest(url: origin.url(for: "/private.png"))
        await #expect(throws: PipelineError.self) { try await pipeline.image(for: request) }

        request.modifyRequest = { $0.fields["Authorization"] = "Bearer 7" }

        #expect(try await pipeline.load(request).httpResponse?.status == 200)
    }

    // Nuke has no retries.
    // Kingfisher:  let strategy = DelayRetryStrategy(maxRetryCount: 2, retryInterval: .seconds(0))
    //              imageView.kf.setImage(with: url, options: [.retryStrategy(strategy)])
    @Test func `a request is retried by its own policy`() async throws {
        var request = ImageRequest(url: origin.url(for: "/busy.png"))
        request.retry = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)

        #expect(try await pipeline.image(for: request).size == PixelSize(width: 8, height: 8))
        #expect(origin.requestCount(for: "/busy.png") == 3)
    }

    // Nuke does not wait for the network.
    // Kingfisher:  let strategy = NetworkRetryStrategy(timeoutInterval: 30)
    //              imageView.kf.setImage(with: url, options: [.retryStrategy(strategy)])
    @Test func `a retry waits for the network`() async throws {
        let network = ManualNetworkMonitor(isOnline: false)
        var downloads = DownloaderConfiguration()
        downloads.networkMonitor = network
        let pipeline = ImagePipeline.standard(
            cacheDirectory: nil, downloader: Downloader.standard(configuration: downloads))
        var request = ImageRequest(url: origin.url(for: "/lost.png"))
        request.retry = RetryPolicy(baseDelay: .zero, maximumNetworkWait: .seconds(30))

        let task = pipeline.imageTask(with: request)
        try await network.waitForWaits()
        network.isOnline = true
        #expect(try await task.image.size == PixelSize(width: 8, height: 8))
        #expect(origin.requestCount(for: "/lost.png") == 2)
    }

    // Nuke:        do { try await image(for: url) } catch { try await image(for: smaller) }
    // Kingfisher:  imageView.kf.setImage(with: url, options: [.alternativeSources([.network(smaller)])])
    @Test func `an alternative source is loaded after a failure`() async throws {
        var request = ImageRequest(url: origin.url(for: "/missing.png"))
        request.alternativeSources = [ImageSource(origin.url(for: "/small.png"))]

        #expect(try await pipeline.load(request).alternativeIndex == 0)
        #expect(pipeline.cachedImage(for: ImageRequest(url: origin.url(for: "/small.png"))) != nil)
    }

    // Nuke:        ImageCache.shared.ttl = 60  // for all images
    // Kingfisher:  imageView.kf.setImage(with: url, options: [.memoryCacheExpiration(.expired)])
    @Test func `a request without time to live leaves nothing in memory`() async throws {
        var request = ImageRequest(url: origin.url(for: "/image.png"))
        request.memoryTimeToLive = .zero

        _ = try await pipeline.image(for: request)
        #expect(pipeline.cache[request] == nil)
    }

    // Nuke:        let request = ImageRequest(url: url, options: [.disableDiskCacheReads])
    //              (its URLCache is still read)
    // Kingfisher:  imageView.kf.setImage(with: url, options: [.fromMemoryCacheOrRefresh])
    @Test func `an image that is not in memory is refreshed from the server, and stored`() async throws {
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.diskCache = DataMemoryCache(sizeLimit: 1 << 20)
        let pipeline = ImagePipeline(configuration)
        var request = ImageRequest(url: origin.url(for: "/fresh.png"))
        _ = try await pipeline.load(request)
        await pipeline.flush()

        request.cachePolicy = CachePolicy(disk: .write, response: .write)
        #expect(try await pipeline.load(request).layer == .memory)
        await pipeline.cache.remove(request, from: .memory)
        #expect(try await pipeline.load(request).layer == .network)
        #expect(origin.requestCount(for: "/fresh.png") == 2)
        #expect(try await pipeline.load(request).layer == .memory)
    }

    // Nuke:        ImagePipelineDelegate.willCache(data:image:for:pipeline:completion:), for the disk
    // Kingfisher:  a CacheSerializer that returns nil, for the disk
    @Test func `a closure keeps an image out of the caches`() async throws {
        var request = ImageRequest(url: origin.url(for: "/image.png"))
        request.shouldCache = { $0.image.size.width > 8 }

        _ = try await pipeline.image(for: request)
        #expect(pipeline.cache[request] == nil)
    }

    // Nuke:        configuration.makeImageEncoder = { context in … }  // of a pipeline
    // Kingfisher:  let serializer = FormatIndicatedCacheSerializer.jpeg
    //              imageView.kf.setImage(with: url, options: [.processor(processor), .cacheSerializer(serializer)])
    @Test(
        arguments: [
            DefaultCacheSerializer(format: .webp, quality: 0.6),
            EncoderCacheSerializer(ImageEncoder.webp(quality: 60), identifier: "webp 60"),
        ] as [any CacheSerializer])
    func `a request stores its image in a format of its own`(serializer: any CacheSerializer) async throws {
        let disk = DataMemoryCache(sizeLimit: 1 << 20)
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.diskCache = disk
        let pipeline = ImagePipeline(configuration)
        var request = ImageRequest(url: origin.url(for: "/image.png"), processors: [.resize(width: 4)])
        request.serializer = serializer
        request.dataCachePolicy = .processed

        _ = try await pipeline.image(for: request)
        await pipeline.flush()
        let stored = try #require(disk.entry(for: request.key)?.data)
        #expect(try CodecRegistry.standard.inspect(stored).format == .webp)
    }

    // Nuke has one disk cache.
    // Kingfisher:  options: [.originalCache(originals), .targetCache(images), .cacheOriginalImage]
    @Test func `a pipeline keeps original bytes apart from processed images`() async throws {
        let (originals, images) = (DataMemoryCache(sizeLimit: 1 << 20), DataMemoryCache(sizeLimit: 1 << 20))
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.originalDiskCache = originals
        configuration.diskCache = images
        configuration.dataCachePolicy = .both
        let pipeline = ImagePipeline(configuration)
        let request = ImageRequest(url: origin.url(for: "/image.png"), processors: [.resize(width: 4)])

        _ = try await pipeline.image(for: request)
        await pipeline.flush()
        #expect(originals.contains(ImageRequest(url: origin.url(for: "/image.png")).key))
        #expect(images.contains(request.key))
    }

    // Nuke:        let data = try await ImagePipeline.shared.imageTask(with: url).response.container.data  // GIF only
    // Kingfisher:  let data = try await KingfisherManager.shared.retrieveImage(with: url).data()
    @Test func `a response has the original bytes`() async throws {
        var request = ImageRequest(url: origin.url(for: "/image.png"))
        request.maximumDataByteCount = 1 << 20

        #expect(try await pipeline.load(request).data == ImageEncoder.png().encode(.gray(side: 8)))
    }

    // Nuke:        let request = ImageRequest(id: "made", data: { data })  // encoded
    // Kingfisher:  let provider = RawImageDataProvider(data: data, cacheKey: "made")  // encoded
    @Test func `a decoded image is a source`() async throws {
        let request = ImageRequest(source: .image(.gray(side: 8), identity: "made"), processors: [.resize(width: 4)])

        #expect(try await pipeline.image(for: request).size == PixelSize(width: 4, height: 4))
        #expect(origin.requests.isEmpty)
    }
}
