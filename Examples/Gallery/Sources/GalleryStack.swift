#if GTK
    import Alcedo
    import AlcedoHTTP
    import FoundationEssentials
    import Synchronization

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
        let conditions: NetworkConditions
        private let configuration: ImagePipeline.Configuration
        private let responses: URLResponseCache

        /// - Parameter memoryLimit: Most bytes of decoded pictures.
        init(memoryLimit: Int, usesDisk: Bool, conditions: NetworkConditions) {
            self.conditions = conditions
            let responses = URLResponseCache(memoryCapacity: Self.responseLimit)
            let network = SlowTransport(transport: CURLTransport(), conditions: conditions)
            let caches = ImagePipeline.Configuration.standardCacheDirectory?.deletingLastPathComponent()
                .appending(path: "alcedo-gallery", directoryHint: .isDirectory)
            var configuration = ImagePipeline.Configuration.standard(
                cacheDirectory: usesDisk ? caches : nil, memoryLimit: memoryLimit,
                downloader: Downloader(transport: CachingTransport(wrapping: network, cache: responses)))
            configuration.responseCache = responses
            configuration.observers = [sources]
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
            request.processors = [.resize(filling: size)]
            return request
        }
    }

    /// Where a picture came from. The pipeline knows of no response cache: what that has, came from the network for it.
    enum ImageLayer: String, CaseIterable {
        case memory
        case disk
        case response
        case network
        case local

        /// As a person is told it.
        var name: String { self == .response ? "HTTP cache" : rawValue }
    }

    /// Remembers of each picture whether its last download was answered by the response cache, the network asked or not.
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

        /// Where the answer to a request came from.
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
