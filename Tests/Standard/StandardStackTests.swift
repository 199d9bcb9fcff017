import Alcedo
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// The default stack.
@Suite(.timeLimit(.minutes(10)))
struct StandardStackTests {
    private let directory: TemporaryDirectory
    private let origin: LoopbackOrigin

    init() throws {
        directory = try TemporaryDirectory()
        let picture = try PNGEncoder().encode(.coordinates(PixelSize(width: 40, height: 30)))
        origin = try LoopbackOrigin { request in
            switch request.path {
            case "/picture": OriginReply.ok(picture, type: "image/png").setting("Cache-Control", "max-age=60")
            case "/moved": OriginReply.redirect(to: "/picture")
            default: .status(404)
            }
        }
    }

    private var cacheDirectory: URL { directory.url.appending(path: "cache", directoryHint: .isDirectory) }
    private func request(_ path: String = "/picture") -> ImageRequest {
        ImageRequest(url: origin.url(for: path))
    }

    @Test func `an image is loaded once, then found in memory, then on disk`() async throws {
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: cacheDirectory)
        configuration.writeTimeout = .seconds(3_600)
        let pipeline = ImagePipeline(configuration)
        let request = request()
        let loaded = try await pipeline.load(request)
        #expect(loaded.layer == .network)
        #expect(loaded.image.size == PixelSize(width: 40, height: 30))
        #expect(try await pipeline.load(request).layer == .memory)
        #expect(pipeline.cachedImage(for: request)?.pixels == loaded.image.pixels)
        await pipeline.shutDown()

        let next = ImagePipeline(.standard(cacheDirectory: cacheDirectory))
        let again = try await next.load(request)
        #expect(again.layer == .disk)
        #expect(again.image.pixels == loaded.image.pixels)
        #expect(origin.requests.count == 1)
        await next.shutDown()
        origin.stop()
    }

    @Test func `the response cache of the stack follows the clock`() async throws {
        let clock = ManualClock()
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: cacheDirectory, clock: clock)
        configuration.memoryCache = nil
        configuration.diskCache = nil
        let pipeline = ImagePipeline(configuration)
        // The server states no date, so the response is as old as the clock says.
        for _ in 0..<2 { _ = try await pipeline.load(request()) }
        #expect(origin.requests.count == 1)
        clock.advance(by: .seconds(61))
        _ = try await pipeline.load(request())
        #expect(origin.requests.count == 2)
        await pipeline.shutDown()
        origin.stop()
    }

    @Test func `a loaded image has its HTTP response and the metrics of its transfer`() async throws {
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.memoryCache = nil
        let pipeline = ImagePipeline(configuration)

        let loaded = try await pipeline.load(request("/moved"))

        #expect(loaded.httpResponse?.status == 200)
        #expect(loaded.httpResponse?.url == origin.url(for: "/picture"))
        #expect(loaded.httpResponse?.fields["Content-Type"] == "image/png")
        let received = try #require(loaded.metrics?.bytesReceived)
        #expect(try received > #require(loaded.encodedByteCount))

        // The image is in the response cache, so it has no transfer.
        let stored = try await pipeline.load(request())
        #expect(stored.httpResponse?.status == 200)
        #expect(stored.metrics == nil)
    }

    @Test func `an image is loaded by URL alone, whole or as a thumbnail`() async throws {
        let pipeline = ImagePipeline(.standard(cacheDirectory: nil))
        let url = origin.url(for: "/picture")

        #expect(try await pipeline.image(for: url).size == PixelSize(width: 40, height: 30))
        let fitting = try await pipeline.image(for: url, fitting: PixelSize(width: 20, height: 20))
        #expect(fitting.size == PixelSize(width: 20, height: 15))
        let large = try await pipeline.image(for: url, fitting: PixelSize(width: 400, height: 400))
        #expect(large.size == PixelSize(width: 40, height: 30))
        await #expect(throws: PipelineError.self) {
            try await pipeline.image(for: url, fitting: PixelSize(width: 0, height: 20))
        }
        #expect(origin.requests.count == 1)
        await pipeline.shutDown()
        origin.stop()
    }

    @Test func `a pipeline over the default stack takes the parameters of its configuration`() async throws {
        let downloader = Downloader.standard(responseCache: URLResponseCache(memoryLimit: 0))
        let pipeline = ImagePipeline.standard(
            cacheDirectory: cacheDirectory, memoryLimit: 1 << 20, diskLimit: 1 << 20, downloader: downloader)
        _ = try await pipeline.load(request())
        await pipeline.flush()

        #expect(await pipeline.cache.contains(request()) == [.memory, .original])
        #expect(FileManager.default.fileExists(atPath: cacheDirectory.path))
    }

    @Test func `a thumbnail of a request is made after its processors`() async throws {
        let pipeline = ImagePipeline(.standard(cacheDirectory: nil))
        var request = request()
        request.processors = [ImageProcessors.Crop(PixelRect(x: 0, y: 0, width: 30, height: 30))]

        let image = try await pipeline.image(for: request, fitting: PixelSize(width: 20, height: 20))

        #expect(image.size == PixelSize(width: 20, height: 20))
        await pipeline.shutDown()
        origin.stop()
    }

    @Test func `without a directory nothing is written, and responses are cached as the server allows`() async throws {
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        #expect(configuration.diskCache == nil)
        configuration.memoryCache = nil
        let pipeline = ImagePipeline(configuration)
        for _ in 0..<3 { _ = try await pipeline.load(request()) }
        #expect(origin.requests.count == 1)
        await pipeline.shutDown()
        origin.stop()
    }

    @Test func `requests identify the program and the decodable formats`() async throws {
        let pipeline = ImagePipeline(.standard(cacheDirectory: nil))
        _ = try await pipeline.load(request())
        let own = HTTPRequest(url: origin.url(for: "/picture"), fields: ["Accept": "image/png"])
        _ = try await pipeline.load(ImageRequest(source: .http(own), cachePolicy: .reload))
        await pipeline.shutDown()

        let fields = origin.requests.map(\.fields)
        #expect(fields.map { $0["User-Agent"] } == ["Alcedo/\(AlcedoVersion.text)", "Alcedo/\(AlcedoVersion.text)"])
        let formats = "image/jpeg,image/png,image/webp,image/gif,image/*;q=0.8,*/*;q=0.5"
        #expect(fields.map { $0["Accept"] } == [formats, "image/png"])
        origin.stop()
    }

    @Test func `an Accept field of the configuration is kept`() async throws {
        var configuration = DownloaderConfiguration()
        configuration.defaultFields["Accept"] = "image/avif"
        let downloader = Downloader.standard(configuration: configuration)
        _ = try await downloader.download(DownloadRequest(request().source))

        #expect(origin.requests.map { $0.fields["Accept"] } == ["image/avif"])
        await downloader.shutDown()
        origin.stop()
    }

    @Test func `a response that varies by the added fields is reused and found by the pipeline`() async throws {
        let picture = try PNGEncoder().encode(.coordinates(PixelSize(width: 4, height: 3)))
        let origin = try LoopbackOrigin { _ in
            OriginReply.ok(picture, type: "image/png").setting("Cache-Control", "max-age=60")
                .setting("Vary", "Accept, User-Agent")
        }
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.memoryCache = nil
        let pipeline = ImagePipeline(configuration)
        let request = ImageRequest(url: origin.url)

        for _ in 0..<3 { _ = try await pipeline.load(request) }

        #expect(origin.requests.count == 1)
        #expect(await pipeline.cache.contains(request) == .response)
        await pipeline.shutDown()
        origin.stop()
    }

    @Test func `a custom downloader is called and has its own responses`() async throws {
        let responses = URLResponseCache(memoryLimit: 0)
        let downloader = Downloader.standard(responseCache: responses)
        let configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil, downloader: downloader)
        #expect(configuration.downloader.responseCache is URLResponseCache)
        let pipeline = ImagePipeline(configuration)
        #expect(try await pipeline.load(request()).layer == .network)
        let nothing = request("/nothing")
        let error = await #expect(throws: (any Error).self) {
            try await pipeline.load(nothing)
        }
        #expect(error.map { "\($0)".contains("404") } == true)
        await pipeline.shutDown()
        origin.stop()
    }
}
