#if GTK
    import Alcedo
    import AlcedoHTTP
    import FoundationEssentials
    import Synchronization

    /// The gallery's pipeline: the standard configuration with an adjustable network delay and a record of response
    /// sources.
    final class GalleryStack: Sendable {
        /// The maximum number of bytes of HTTP responses in memory.
        static let responseLimit = 16 << 20

        /// The maximum number of bytes of animation frames.
        static let frameLimit = 16 << 20

        let pipeline: ImagePipeline
        let prefetcher: ImagePrefetcher
        /// The pool of animation frames for all views.
        let frames = FramePool(byteLimit: frameLimit, pressureSource: SystemMemoryPressureSource())
        let sources = ResponseSources()
        let conditions: NetworkConditions
        private let configuration: ImagePipeline.Configuration
        private let responses: URLResponseCache

        /// Creates the pipeline.
        ///
        /// - Parameters:
        ///   - memoryLimit: The maximum number of bytes of decoded images in memory.
        ///   - usesDisk: Whether images are cached on disk.
        ///   - conditions: The conditions of the simulated network.
        init(memoryLimit: Int, usesDisk: Bool, conditions: NetworkConditions) {
            self.conditions = conditions
            let responses = URLResponseCache(memoryLimit: Self.responseLimit)
            let network = SlowTransport(transport: CURLTransport(), conditions: conditions)
            let caches = ImagePipeline.Configuration.cacheDirectory(named: "alcedo-gallery")
            var configuration = ImagePipeline.Configuration.standard(
                cacheDirectory: usesDisk ? caches : nil, memoryLimit: memoryLimit,
                downloader: Downloader(
                    transport: CachingTransport(wrapping: network, cache: responses), responseCache: responses))
            configuration.observers = [sources]
            self.configuration = configuration
            self.responses = responses
            pipeline = ImagePipeline(configuration)
            prefetcher = ImagePrefetcher(pipeline: pipeline)
        }

        /// Removes all entries from the memory, disk and response caches.
        func emptyCaches() async {
            configuration.memoryCache?.removeAll()
            await configuration.diskCache?.removeAll()
            await responses.removeAll()
        }

        /// Returns the image information from the header of a loaded file. Reads the caches or the local file, never
        /// the network.
        func header(of request: ImageRequest) async throws -> ImageInfo {
            var request = request
            request.cachePolicy = .cacheOnly
            return try configuration.codecs.inspect(try await pipeline.data(for: request))
        }

        /// Returns the request for an image that fills a cell of `size` device pixels and is not larger.
        static func thumbnail(_ request: ImageRequest, covering size: PixelSize) -> ImageRequest {
            var request = request
            request.decoding.target = TargetSize(size, mode: .fill)
            // GTK's GL renderer draws premultiplied pixels without a conversion.
            request.decoding.alphaMode = .premultiplied
            request.processors = [.resize(filling: size)]
            return request
        }
    }

    /// The layer that an image was loaded from. A pipeline's response names the network as the layer of an image from
    /// the response cache, so ``ResponseSources`` distinguishes the two.
    enum ImageLayer: String, CaseIterable {
        case memory
        case disk
        case response
        case network
        case local

        /// The name shown to the user.
        var name: String { self == .response ? "HTTP cache" : rawValue }
    }

    /// An observer that records for each image whether the response cache served its last download, with or without
    /// revalidation.
    final class ResponseSources: PipelineObserving {
        private let servedFromCache = Mutex<Set<ResourceKey>>([])

        func pipelineDidReport(_ event: PipelineEvent) {
            guard case .downloaded(_, let source) = event.stage else { return }
            servedFromCache.withLock { servedFromCache in
                if let source, source != .new {
                    servedFromCache.insert(event.key.resource)
                } else {
                    servedFromCache.remove(event.key.resource)
                }
            }
        }

        /// Returns the layer that a response was loaded from.
        func layer(of response: ImageResponse, to request: ImageRequest) -> ImageLayer {
            switch response.layer {
            case .memory: .memory
            case .disk: .disk
            case .network: servedFromCache.withLock { $0.contains(request.key.resource) } ? .response : .network
            case .local: .local
            }
        }
    }
#endif
