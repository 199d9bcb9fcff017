import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
import AlcedoRedisCache
import FoundationEssentials

/// Everything behind the server, put together.
struct ServerStack: Sendable {
    struct Settings: Sendable {
        var service = ThumbnailService.Settings()
        var limits = ThumbnailGenerator.Limits()
        /// Whether private addresses are asked, too.
        var allowsPrivateAddresses = false
        /// A folder for originals and pictures; nil keeps nothing on disk.
        var cacheDirectory: URL?
        /// Most bytes on disk: a half for originals, a half for pictures.
        var diskLimit = 1 << 30
        /// Most bytes of pictures in memory.
        var memoryLimit = 64 << 20
        /// A store that several servers share.
        var redis: RedisOptions?
        /// Most bytes of an original.
        var originalLimit = 32 << 20
        /// Threads that decode and encode.
        var maxConcurrentDecodes = 2
    }

    /// Servers that ask private addresses keep apart what they have: others must not hand it out.
    private static let privateName = "private"

    let service: ThumbnailService
    private let generator: ThumbnailGenerator

    init(_ settings: Settings) {
        let metrics = PipelineMetrics()
        let shared = settings.redis.map { options in
            var options = options
            if settings.allowsPrivateAddresses { options.prefix += Self.privateName + ":" }
            return RedisDataCache(options)
        }
        let sharedStore = shared.map { SharedStoreMonitor($0) { Console.notice("thumbnail-server: \($0)") } }
        let cache = ThumbnailCache(
            memoryLimit: settings.memoryLimit, store: Self.store(settings, shared),
            maximumAge: settings.limits.maximumAge,
            scope: settings.service.allowed.scope
        ) { sharedStore?.check() }
        var configuration = ImagePipeline.Configuration(
            downloader: Self.downloader(settings), codecs: .standard, observers: [metrics])
        configuration.maxConcurrentDecodes = settings.maxConcurrentDecodes
        configuration.maximumDecodingByteCount = settings.limits.decoding.maximumByteCount
        generator = ThumbnailGenerator(configuration, cache: cache, limits: settings.limits)
        service = ThumbnailService(
            settings.service, generator: generator, cache: cache, pipelineMetrics: metrics, sharedStore: sharedStore)
    }

    func shutDown() async { await generator.shutDown() }

    /// Where finished pictures are beside memory: near on disk, and far where others share them.
    private static func store(_ settings: Settings, _ shared: RedisDataCache?) -> (any DataCaching)? {
        let disk = directory("pictures", settings).map {
            FileDiskCache(directory: $0, sizeLimit: settings.diskLimit / 2)
        }
        switch (disk, shared) {
        case (let disk?, let shared?): return TieredDataCache([DataCacheTier(disk), DataCacheTier(shared)])
        case (let disk?, nil): return disk
        case (nil, let shared?): return shared
        case (nil, nil): return nil
        }
    }

    private static func downloader(_ settings: Settings) -> Downloader {
        var network = CURLOptions()
        network.allowsPrivateAddresses = settings.allowsPrivateAddresses
        // Addresses are judged where connections are made, which with a proxy is elsewhere.
        network.proxy = .none
        network.decodedByteLimit = settings.originalLimit
        var configuration = DownloaderConfiguration(
            maxConcurrentDownloads: 64, maxConcurrentDownloadsPerHost: 16,
            maximumByteCount: settings.originalLimit, maximumRedirectCount: 5)
        configuration.defaultFields["Accept"] = CodecRegistry.standard.acceptFieldValue
        configuration.acceptsContent = CodecRegistry.standard.recognizes
        // A redirect that leads nowhere is no picture, whatever it brings.
        configuration.acceptsStatus = { (200..<300).contains($0) }
        // What an origin does not have is not asked for again at once.
        configuration.failureCache = FailureCache(lifetime: .seconds(30))
        let allowed = settings.service.allowed
        configuration.redirectHook = { head, next in
            let target = try SourceURL(next.url)
            try allowed.check(target)
            return RedirectPolicyTransport.recording(head, in: next, now: Date())
        }
        let transport = CURLTransport(options: network)
        guard let directory = directory("originals", settings) else {
            return Downloader(transport: RedirectPolicyTransport(transport), configuration: configuration)
        }
        let responses = URLResponseCache(
            memoryCapacity: 0, disk: FileDiskCache(directory: directory, sizeLimit: settings.diskLimit / 2),
            rules: ResponseCacheRules(role: .shared()))
        return Downloader(
            transport: RedirectPolicyTransport(CachingTransport(wrapping: transport, cache: responses)),
            configuration: configuration)
    }

    private static func directory(_ name: String, _ settings: Settings) -> URL? {
        let directory =
            settings.allowsPrivateAddresses
            ? settings.cacheDirectory?.appending(path: privateName) : settings.cacheDirectory
        return directory?.appending(path: name, directoryHint: .isDirectory)
    }
}
