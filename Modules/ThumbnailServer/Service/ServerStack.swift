import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
import AlcedoRedisCache
import FoundationEssentials

/// Everything behind the server, put together.
struct ServerStack: Sendable {
    struct Settings: Sendable {
        var service = ThumbnailService.Settings()
        var limits = ThumbnailMaker.Limits()
        /// Whether private addresses are asked, too.
        var allowsPrivate = false
        /// A folder for originals and pictures; nil keeps nothing on disk.
        var cacheFolder: URL?
        /// Most bytes on disk: a half for originals, a half for pictures.
        var diskLimit = 1 << 30
        /// Most bytes of pictures in memory.
        var memoryLimit = 64 << 20
        /// A store that several servers share.
        var redis: RedisOptions?
        /// Most bytes of an original.
        var originalLimit = 32 << 20
        /// Threads that decode and encode.
        var width = 2
    }

    /// Servers that ask private addresses keep apart what they have: others must not hand it out.
    private static let privateName = "private"

    let service: ThumbnailService
    private let maker: ThumbnailMaker

    init(_ settings: Settings) {
        let metrics = PipelineMetrics()
        let shared = settings.redis.map { options in
            var options = options
            if settings.allowsPrivate { options.prefix += Self.privateName + ":" }
            return RedisDataCache(options)
        }
        let sharing = shared.map { SharedStoreWatch($0) { Console.note("thumbnail-server: \($0)") } }
        let answers = AnswerStore(
            memoryLimit: settings.memoryLimit, store: Self.store(settings, shared), life: settings.limits.life,
            scope: settings.service.allowed.scope
        ) { sharing?.look() }
        var configuration = ImagePipeline.Configuration(
            downloader: Self.downloader(settings), codecs: .standard, observers: [metrics])
        configuration.maxConcurrentDecodes = settings.width
        configuration.maximumDecodingByteCount = settings.limits.decoding.maximumByteCount
        maker = ThumbnailMaker(configuration, answers: answers, limits: settings.limits)
        service = ThumbnailService(
            settings.service, maker: maker, answers: answers, pipelineMetrics: metrics, sharing: sharing)
    }

    func shutDown() async { await maker.shutDown() }

    /// Where finished pictures are beside memory: near on disk, and far where others share them.
    private static func store(_ settings: Settings, _ shared: RedisDataCache?) -> (any DataCaching)? {
        let disk = folder("pictures", settings).map { FileDiskCache(directory: $0, sizeLimit: settings.diskLimit / 2) }
        switch (disk, shared) {
        case (let disk?, let shared?): return TieredDataCache([DataCacheTier(disk), DataCacheTier(shared)])
        case (let disk?, nil): return disk
        case (nil, let shared?): return shared
        case (nil, nil): return nil
        }
    }

    private static func downloader(_ settings: Settings) -> Downloader {
        var network = CURLOptions()
        network.addresses = settings.allowsPrivate ? .any : .publicOnly
        // Addresses are judged where connections are made, which with a proxy is elsewhere.
        network.proxy = .none
        network.decodedByteLimit = settings.originalLimit
        var configuration = DownloaderConfiguration(
            maxConcurrentDownloads: 64, maxConcurrentDownloadsPerHost: 16,
            maximumByteCount: settings.originalLimit, maximumRedirectCount: 5)
        configuration.rules.defaultFields["Accept"] = CodecRegistry.standard.acceptFieldValue
        configuration.rules.contentCheck = ContentCheck(.standard)
        // A redirect that leads nowhere is no picture, whatever it brings.
        configuration.rules.acceptsStatus = { (200..<300).contains($0) }
        // What an origin does not have is not asked for again at once.
        configuration.rules.failureCache = FailureCache(lifetime: .seconds(30))
        let allowed = settings.service.allowed
        configuration.rules.redirectHook = { head, next in
            let target = try SourceURL(next.url)
            try allowed.check(target)
            return RedirectTerms.noting(head, in: next, now: Date())
        }
        let transport = CURLTransport(options: network)
        guard let folder = folder("originals", settings) else {
            return Downloader(transport: RedirectTerms(transport), configuration: configuration)
        }
        let responses = URLResponseCache(
            memoryCapacity: 0, disk: FileDiskCache(directory: folder, sizeLimit: settings.diskLimit / 2),
            rules: ResponseCacheRules(role: .shared()))
        return Downloader(
            transport: RedirectTerms(CachingTransport(wrapping: transport, cache: responses)),
            configuration: configuration)
    }

    private static func folder(_ name: String, _ settings: Settings) -> URL? {
        let folder = settings.allowsPrivate ? settings.cacheFolder?.appending(path: privateName) : settings.cacheFolder
        return folder?.appending(path: name, directoryHint: .isDirectory)
    }
}
