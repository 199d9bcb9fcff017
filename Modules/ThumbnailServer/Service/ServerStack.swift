import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
import AlcedoRedisCache
import FoundationEssentials

/// The service of the server with its pipeline, caches and network.
struct ServerStack: Sendable {
    struct Settings: Sendable {
        var service = ThumbnailService.Settings()
        var limits = ThumbnailGenerator.Limits()
        /// Whether the server downloads from private addresses.
        var allowsPrivateAddresses = false
        /// The directory for originals and thumbnails; nil if nothing is stored on disk.
        var cacheDirectory: URL?
        /// The maximum number of bytes on disk: half for originals, half for thumbnails.
        var diskLimit = 1 << 30
        /// The maximum number of bytes of thumbnails in memory.
        var memoryLimit = 64 << 20
        /// The store that several servers share; nil if there is none.
        var redis: RedisOptions?
        /// The maximum number of bytes of an original.
        var originalLimit = 32 << 20
        /// The number of threads that decode, and of threads that encode.
        var maxConcurrentDecodes = 2
    }

    /// The name that separates the stores of servers with access to private addresses. Other servers must not serve
    /// those entries.
    private static let privateName = "private"

    let service: ThumbnailService
    private let generator: ThumbnailGenerator

    /// Creates a stack. By default, decoders run in the process of the server, the clock is the system's, and messages
    /// are written to standard error.
    init(
        _ settings: Settings, codecs: ServerCodecs = .unconfined, clock: any TimeSource = SystemClock(),
        log: @escaping @Sendable (String) -> Void = { Console.notice("thumbnail-server: \($0)") }
    ) {
        let metrics = PipelineMetrics()
        let shared = settings.redis.map { options in
            var options = options
            if settings.allowsPrivateAddresses { options.prefix += Self.privateName + ":" }
            return RedisDataCache(options)
        }
        let sharedStore = shared.map { SharedStoreMonitor($0, warn: log) }
        let cache = ThumbnailCache(
            memoryLimit: settings.memoryLimit, store: Self.store(settings, shared, clock),
            maximumAge: settings.limits.maximumAge,
            scope: settings.service.allowed.scope, clock: clock
        ) { sharedStore?.check() }
        var configuration = ImagePipeline.Configuration(
            downloader: Self.downloader(settings, clock), codecs: codecs.registry,
            colorConverter: LittleCMSColorConverter(), observers: [metrics])
        configuration.maxConcurrentDecodes = settings.maxConcurrentDecodes
        configuration.maximumDecodingByteCount = settings.limits.decoding.maximumByteCount
        generator = ThumbnailGenerator(configuration, cache: cache, limits: settings.limits, clock: clock, log: log)
        service = ThumbnailService(
            settings.service, generator: generator, cache: cache, pipelineMetrics: metrics, sharedStore: sharedStore,
            sandboxCounts: codecs.sandboxCounts, clock: clock)
    }

    func shutDown() async { await generator.shutDown() }

    /// Returns the store of finished thumbnails behind the memory cache: disk, then the store that servers share; nil
    /// if there is neither.
    private static func store(
        _ settings: Settings, _ shared: RedisDataCache?, _ clock: any TimeSource
    ) -> (any DataCaching)? {
        let disk = directory("pictures", settings).map {
            FileDiskCache(directory: $0, sizeLimit: settings.diskLimit / 2, clock: clock)
        }
        switch (disk, shared) {
        case (let disk?, let shared?): return TieredDataCache([DataCacheTier(disk), DataCacheTier(shared)])
        case (let disk?, nil): return disk
        case (nil, let shared?): return shared
        case (nil, nil): return nil
        }
    }

    private static func downloader(_ settings: Settings, _ clock: any TimeSource) -> Downloader {
        var network = CURLOptions()
        network.allowsPrivateAddresses = settings.allowsPrivateAddresses
        // The transport checks the address of each connection. With a proxy, it would check the proxy's address
        // instead.
        network.proxy = .none
        network.decodedByteLimit = settings.originalLimit
        var configuration = DownloaderConfiguration(
            maxConcurrentDownloads: 64, maxConcurrentDownloadsPerHost: 16,
            maximumByteCount: settings.originalLimit, maximumRedirectCount: 5)
        configuration.defaultFields["Accept"] = CodecRegistry.programs.acceptFieldValue
        configuration.acceptsContent = CodecRegistry.programs.recognizes
        // A redirect that cannot be followed is not an image, even if it has a body.
        configuration.acceptsStatus = { (200..<300).contains($0) }
        // A download that fails permanently, for example because the origin lacks the resource, is not repeated for 30
        // seconds.
        configuration.failureCache = FailureCache(lifetime: .seconds(30))
        let allowed = settings.service.allowed
        configuration.redirectHook = { head, next in
            let target = try SourceURL(next.url)
            try allowed.check(target)
            return RedirectPolicyTransport.recording(head, in: next, now: clock.now)
        }
        let transport = CURLTransport(options: network)
        guard let directory = directory("originals", settings) else {
            return Downloader(
                transport: RedirectPolicyTransport(transport), configuration: configuration, clock: clock)
        }
        let responses = URLResponseCache(
            memoryLimit: 0,
            disk: FileDiskCache(directory: directory, sizeLimit: settings.diskLimit / 2, clock: clock),
            rules: ResponseCacheRules(role: .shared()), clock: clock)
        return Downloader(
            transport: RedirectPolicyTransport(CachingTransport(wrapping: transport, cache: responses)),
            configuration: configuration, clock: clock)
    }

    private static func directory(_ name: String, _ settings: Settings) -> URL? {
        let directory =
            settings.allowsPrivateAddresses
            ? settings.cacheDirectory?.appending(path: privateName) : settings.cacheDirectory
        return directory?.appending(path: name, directoryHint: .isDirectory)
    }
}
