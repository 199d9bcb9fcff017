import Alcedo
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// The stack with the defaults of AFNetworking's `AFImageDownloader`.
@Suite(.timeLimit(.minutes(10)))
struct AFImageDownloaderTests {
    private let directory: TemporaryDirectory
    private let picture: Data

    init() throws {
        directory = try TemporaryDirectory()
        picture = try PNGEncoder().encode(.coordinates(PixelSize(width: 4, height: 3)))
    }

    private func origin(_ change: @escaping @Sendable (OriginReply) -> OriginReply = { $0 }) throws -> LoopbackOrigin {
        try LoopbackOrigin { [picture] _ in
            change(OriginReply.ok(picture, type: "image/png").setting("Cache-Control", "max-age=600"))
        }
    }

    private func request(_ origin: LoopbackOrigin, _ path: String = "/a") -> ImageRequest {
        ImageRequest(url: origin.url(for: path))
    }

    @Test func `the downloader has the defaults of AlamofireImage`() {
        let configuration = DownloaderConfiguration.afImageDownloader
        #expect(configuration.maxConcurrentDownloads == 4)
        #expect(configuration.order == .firstInFirstOut)
        #expect(configuration.idleTimeout == .seconds(60))
    }

    @Test func `the image cache has the capacities of AlamofireImage, and only responses are on disk`() throws {
        let configuration = ImagePipeline.Configuration.afImageDownloader(cacheDirectory: directory.url)
        let images = try #require(configuration.memoryCache as? AutoPurgingImageCache)
        #expect(images.memoryCapacity == 100 << 20)
        #expect(images.preferredMemoryUsageAfterPurge == 60 << 20)
        #expect(configuration.diskCache == nil)
        #expect(configuration.downloader.responseCache != nil)
    }

    @Test func `four downloads run concurrently, and the others follow`() async throws {
        let origin = try origin { $0.stalling(at: .beforeHead) }
        defer { origin.stop() }
        let pipeline = ImagePipeline(.afImageDownloader(cacheDirectory: nil))
        let requests = (0..<6).map { request(origin, "/\($0)") }
        let tasks = requests.map { request in Task.immediate { try await pipeline.load(request).layer } }

        try await origin.waitForStalls(count: 4)
        #expect(origin.requests.count == 4)
        origin.release()
        try await origin.waitUntil { $0.requestCount == 6 && $0.stalledCount == 2 }
        origin.release()

        for task in tasks { #expect(try await task.value == .network) }
        await pipeline.shutDown()
    }

    @Test func `pipelines share neither downloads nor images, and loads of one share both`() async throws {
        let origin = try origin { $0.stalling(at: .beforeHead) }
        defer { origin.stop() }
        let request = request(origin)
        let pipelines = (0..<3).map { _ in ImagePipeline(.afImageDownloader(cacheDirectory: nil)) }
        let loads = [pipelines[0], pipelines[0], pipelines[1]].map { pipeline in
            Task.immediate { try await pipeline.load(request).layer }
        }

        try await origin.waitForStalls(count: 2)
        origin.release()

        for load in loads { #expect(try await load.value == .network) }
        #expect(origin.requests.count == 2)
        #expect(pipelines.map { $0.cachedImage(for: request) != nil } == [true, true, false])
        for pipeline in pipelines { await pipeline.shutDown() }
    }

    @Test func `the next pipeline finds a response on disk without the server`() async throws {
        let origin = try origin()
        let request = request(origin)
        let first = ImagePipeline(.afImageDownloader(cacheDirectory: directory.url))
        #expect(try await first.load(request).layer == .network)
        await first.shutDown()
        // Responses are stored in the background.
        let layers = ImagePipeline(.afImageDownloader(cacheDirectory: directory.url))
        try await eventually { await layers.cache.contains(request).contains(.response) }
        origin.stop()

        let next = ImagePipeline(.afImageDownloader(cacheDirectory: directory.url))

        #expect(try await next.load(request).image.size == PixelSize(width: 4, height: 3))
        #expect(origin.requests.count == 1)
        await next.shutDown()
    }

    @Test func `a cookie that a response sets is sent with the next request`() async throws {
        let origin = try origin { $0.setting("Set-Cookie", "session=7; Path=/") }
        defer { origin.stop() }
        let pipeline = ImagePipeline(.afImageDownloader(cacheDirectory: nil))

        for path in ["/a", "/b"] { _ = try await pipeline.load(request(origin, path)) }

        #expect(origin.requests.map { $0.fields["Cookie"] } == [nil, "session=7"])
        await pipeline.shutDown()
    }
}
