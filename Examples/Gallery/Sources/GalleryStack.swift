#if GTK
    import Alcedo
    import ExampleSupport
    import FoundationEssentials

    /// The pipeline that the gallery loads with: the default stack, but for a network that may be slow, and counters.
    final class GalleryStack: Sendable {
        /// Most bytes of HTTP answers in memory.
        static let responseLimit = 16 << 20

        /// Most bytes of frames.
        static let frameLimit = 16 << 20

        let pipeline: ImagePipeline
        let prefetcher: ImagePrefetcher
        /// The frames of animations, of all views.
        let frames = FramePool(byteLimit: frameLimit, pressureSource: SystemMemoryPressureSource())
        let sources = ResponseSources()
        let weather: NetworkWeather
        private let configuration: ImagePipeline.Configuration
        private let responses: URLResponseCache

        /// - Parameter memoryLimit: Most bytes of decoded pictures.
        init(memoryLimit: Int, usesDisk: Bool, weather: NetworkWeather) {
            self.weather = weather
            let responses = URLResponseCache(memoryCapacity: Self.responseLimit)
            let network = SlowTransport(transport: CURLTransport(), weather: weather)
            let caches = ImagePipeline.Configuration.standardCacheDirectory?.deletingLastPathComponent()
                .appending(path: "alcedo-gallery", directoryHint: .isDirectory)
            var configuration = ImagePipeline.Configuration.standard(
                cacheDirectory: usesDisk ? caches : nil, memoryLimit: memoryLimit,
                downloader: Downloader(transport: CachingTransport(wrapping: network, cache: responses)))
            configuration.responseCache = responses
            configuration.observer = sources
            self.configuration = configuration
            self.responses = responses
            pipeline = ImagePipeline(configuration)
            prefetcher = ImagePrefetcher(pipeline: pipeline)
        }

        /// Removes all that is stored, in memory and on disk.
        func emptyCaches() async {
            configuration.memoryCache?.removeAll()
            await configuration.diskCache?.removeAll()
            await responses.removeAll()
        }

        /// What the file of a picture says that has been loaded: from the caches or the disk, never from the network.
        func header(of request: ImageRequest) async throws -> ImageInfo {
            var request = request
            request.cachePolicy = .cacheOnly
            return try configuration.codecs.inspect(try await pipeline.data(for: request))
        }

        /// The request for a picture that covers a cell of this size, in device pixels, and is no larger.
        static func thumbnail(_ request: ImageRequest, covering size: PixelSize) -> ImageRequest {
            var request = request
            request.decoding.target = TargetSize(size, mode: .fill)
            // What GTK draws without converting it first.
            request.decoding.alphaMode = .premultiplied
            request.processors = [EveryFrame(Resize(to: size, mode: .fill))]
            return request
        }
    }
#endif
