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
        /// The number of threads that decode the originals of one machine.
        var maxConcurrentDecodes = 2

        /// The number of threads that decode and encode. Two more than one machine can use, so that originals of two
        /// machines whose decodes take long do not make those of a third one wait.
        var threadCount: Int { maxConcurrentDecodes + 2 }

        /// The name that separates the stores of servers with access to private addresses. Other servers must not serve
        /// those entries.
        fileprivate static let privateName = "private"

        var cacheDirectories: [URL] { ["originals", "pictures"].compactMap(directory) }

        fileprivate func directory(_ name: String) -> URL? {
            let directory =
                allowsPrivateAddresses ? cacheDirectory?.appending(path: Self.privateName) : cacheDirectory
            return directory?.appending(path: name, directoryHint: .isDirectory)
        }

        /// The suffix of the keys of stored thumbnails. Servers with different rules do not share thumbnails, because
        /// one must not serve what it would refuse to make.
        var scope: String { "\(service.allowed.scope);damage:\(limits.tolerance)" }
    }

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
            if settings.allowsPrivateAddresses { options.prefix += Settings.privateName + ":" }
            return RedisDataCache(options)
        }
        let sharedStore = shared.map { SharedStoreMonitor($0, warn: log) }
        let report = DiskReport(settings.cacheDirectory, clock: clock, log)
        let cache = ThumbnailCache(
            memoryLimit: settings.memoryLimit, store: Self.store(settings, shared, clock, report),
            maximumAge: settings.limits.maximumAge,
            scope: settings.scope, clock: clock
        ) { sharedStore?.check() }
        let waits = OriginWaits()
        let decoderWaits = DecoderWaits()
        let admission = Admission(
            limit: settings.service.maxConcurrentRequests, waiterLimit: settings.service.maxConcurrentWaiters)
        var configuration = ImagePipeline.Configuration(
            downloader: Self.downloader(settings, waits, admission, clock, report), codecs: codecs.registry,
            colorConverter: LittleCMSColorConverter(), observers: [metrics])
        configuration.maxConcurrentDecodes = settings.threadCount
        configuration.decodingTurns = DecodingTurns(maxConcurrentPerGroup: settings.maxConcurrentDecodes) {
            [admission] request in
            request.url.flatMap { try? SourceURL($0) }.map { admission.machine(of: $0.host) }
        } onWait: { [decoderWaits] in
            decoderWaits.set($0, isWaiting: $1)
        }
        configuration.maximumDecodingByteCount = settings.limits.decoding.maximumByteCount
        // Originals that arrive slowly count with the mean size of others, and must not use up the budget.
        configuration.maximumEncodedByteCount = max(configuration.maximumEncodedByteCount, 8 * settings.originalLimit)
        generator = ThumbnailGenerator(
            configuration, cache: cache, limits: settings.limits, waits: waits, decoderWaits: decoderWaits,
            clock: clock, log: log)
        var serviceSettings = settings.service
        serviceSettings.maximumEncodingByteCount = settings.limits.decoding.maximumByteCount
        service = ThumbnailService(
            serviceSettings, admission: admission, generator: generator, cache: cache, pipelineMetrics: metrics,
            sharedStore: sharedStore, sandboxCounts: codecs.sandboxCounts, clock: clock)
    }

    func shutDown() async { await generator.shutDown() }

    /// Returns the store of finished thumbnails behind the memory cache: disk, then the store that servers share; nil
    /// if there is neither.
    private static func store(
        _ settings: Settings, _ shared: RedisDataCache?, _ clock: any TimeSource, _ report: DiskReport
    ) -> (any DataCaching)? {
        let disk = disk("pictures", settings, clock, report)
        switch (disk, shared) {
        case (let disk?, let shared?): return TieredDataCache([DataCacheTier(disk), DataCacheTier(shared)])
        case (let disk?, nil): return disk
        case (nil, let shared?): return shared
        case (nil, nil): return nil
        }
    }

    private static func disk(
        _ name: String, _ settings: Settings, _ clock: any TimeSource, _ report: DiskReport
    ) -> ReportingDiskCache? {
        settings.directory(name).map { directory in
            let limits = DataCacheLimits(sizeLimit: settings.diskLimit / 2)
            let cache = FileDiskCache(directory: directory, limits: limits, clock: clock) { trim in
                guard trim.removals.contains(where: { $0.evictionReason == .noSpace }) else { return }
                report.recordFailure(DataCacheError(.noSpace, "the disk is full, and older entries are removed"))
            }
            return ReportingDiskCache(cache: cache, report: report)
        }
    }

    private static func downloader(
        _ settings: Settings, _ waits: OriginWaits, _ admission: Admission, _ clock: any TimeSource,
        _ report: DiskReport
    ) -> Downloader {
        var network = CURLOptions()
        network.allowsPrivateAddresses = settings.allowsPrivateAddresses
        // The transport checks the address of each connection. With a proxy, it would check the proxy's address
        // instead.
        network.proxy = .none
        network.maximumDecodedByteCount = settings.originalLimit
        // The transport knows the address of each connection, whatever the name in the URL and after redirects. A
        // request that waits for a permit of its address has no permit of the total, and does not delay the others. So
        // the downloader limits only the requests for one name, which is not resolved yet.
        let hostLimit = settings.limits.maxConcurrentOriginalsPerHost
        network.maxConcurrentTransfers = settings.limits.maxConcurrentOriginals
        network.maxConcurrentTransfersPerAddress = hostLimit
        network.onWait = { waits.set($0, isWaiting: $1) }
        let lookups = HostLookups(admission, limit: settings.limits.maxConcurrentOriginals / 2)
        network.onAddress = { url, address in
            guard let host = try? SourceURL(url).host else { return }
            admission.recordAddress(address, of: host)
            lookups.end(of: host)
        }
        var configuration = DownloaderConfiguration(
            maxConcurrentDownloads: .max, maxConcurrentDownloadsPerHost: hostLimit,
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
        let transport = HostLookupTransport(transport: CURLTransport(options: network), lookups: lookups)
        guard let disk = disk("originals", settings, clock, report) else {
            return Downloader(
                transport: RedirectPolicyTransport(transport), configuration: configuration, clock: clock)
        }
        let responses = URLResponseCache(
            memoryLimit: 0, disk: disk, rules: ResponseCacheRules(role: .shared()), clock: clock)
        return Downloader(
            transport: RedirectPolicyTransport(CachingTransport(wrapping: transport, cache: responses)),
            configuration: configuration, clock: clock)
    }
}
