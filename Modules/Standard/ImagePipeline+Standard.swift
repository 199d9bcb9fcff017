public import AlcedoCURL
public import AlcedoCodecs
public import AlcedoCore
import AlcedoDiskCache
public import AlcedoDownloader
public import AlcedoHTTP
import AlcedoMemoryCache
public import AlcedoPipeline
public import AlcedoURLResponseCache
public import FoundationEssentials

extension ImagePipeline.Configuration {
    /// The default stack: decoded images in memory, original bytes on disk, HTTP through libcurl with a response cache
    /// between, and every codec of the package. To change a part, change the value that this returns, or write a
    /// function like this one.
    ///
    /// - Parameters:
    ///   - cacheDirectory: A directory that belongs to the disk cache alone; nil keeps nothing on disk. Made when it is
    ///     first written to. Default: ``standardCacheDirectory``.
    ///   - memoryLimit: Most bytes of decoded images; nil for 15 % of the memory that this process may have, at most
    ///     768 MiB. Half of them go when memory becomes short, all when it is critical; what a view holds is found again.
    ///     Default: nil.
    ///   - diskLimit: Most bytes on disk, each entry for seven days since its last use. Default: 256 MiB.
    ///   - responseLimit: Most bytes of HTTP answers in memory, when `downloader` is nil. Default: 16 MiB.
    ///   - downloader: Fetches bytes; nil for `Downloader.standard` with its defaults. Whoever brings one, and has a
    ///     response cache in it, sets `responseCache` of the value that this returns. Default: nil.
    public static func standard(
        cacheDirectory: URL? = standardCacheDirectory,
        memoryLimit: Int? = nil,
        diskLimit: Int = 256 << 20,
        responseLimit: Int = 16 << 20,
        downloader: (any Downloading)? = nil
    ) -> Self {
        let responses = URLResponseCache(memoryCapacity: responseLimit)
        return Self(
            downloader: downloader ?? Downloader.standard(responseCache: responses),
            codecs: .standard,
            memoryCache: ImageMemoryCache(
                costLimit: memoryLimit ?? ImageMemoryCache.defaultCostLimit,
                findsReferencedValues: true,
                pressureSource: SystemMemoryPressureSource.shared),
            diskCache: cacheDirectory.map { FileDiskCache(directory: $0, sizeLimit: diskLimit) },
            responseCache: downloader == nil ? responses : nil)
    }

    /// Where the default stack keeps files: `$XDG_CACHE_HOME/alcedo`, else `~/.cache/alcedo`; nil without a home.
    ///
    /// Source: XDG Base Directory Specification 0.8, which ignores a relative path.
    public static var standardCacheDirectory: URL? { userCache("alcedo") }

    /// The directory of this name among the user's caches.
    static func userCache(_ name: String) -> URL? {
        let environment = ProcessInfo.processInfo.environment
        if let caches = environment["XDG_CACHE_HOME"], caches.hasPrefix("/") {
            return URL(filePath: caches).appending(path: name, directoryHint: .isDirectory)
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return URL(filePath: home).appending(path: ".cache/\(name)", directoryHint: .isDirectory)
    }
}

extension ImagePipeline {
    /// Returns a pipeline over the default stack. Make one and keep it: its caches are its own.
    ///
    /// - Parameters:
    ///   - cacheDirectory: A directory that belongs to the disk cache alone; nil keeps nothing on disk. Default:
    ///     ``Configuration/standardCacheDirectory``.
    ///   - memoryLimit: The maximum number of bytes of decoded images; nil for 15 % of the memory that this process may
    ///     have, at most 768 MiB. Default: nil.
    ///   - diskLimit: The maximum number of bytes on disk. Default: 256 MiB.
    ///   - responseLimit: The maximum number of bytes of HTTP responses in memory, when `downloader` is nil. Default:
    ///     16 MiB.
    ///   - downloader: Fetches bytes; nil for `Downloader.standard` with its defaults. Default: nil.
    /// - SeeAlso: ``Configuration/standard(cacheDirectory:memoryLimit:diskLimit:responseLimit:downloader:)``, whose
    ///   result can be changed before a pipeline is made of it.
    public static func standard(
        cacheDirectory: URL? = Configuration.standardCacheDirectory,
        memoryLimit: Int? = nil,
        diskLimit: Int = 256 << 20,
        responseLimit: Int = 16 << 20,
        downloader: (any Downloading)? = nil
    ) -> ImagePipeline {
        ImagePipeline(
            .standard(
                cacheDirectory: cacheDirectory, memoryLimit: memoryLimit, diskLimit: diskLimit,
                responseLimit: responseLimit, downloader: downloader))
    }
}

extension Downloader {
    /// The default way to servers: libcurl, a response cache in memory around it, and the downloader.
    ///
    /// Requests without an `Accept` of their own name the formats of `codecs`, then any image; another `Accept` among the
    /// configuration's default fields stays.
    ///
    /// - Parameters:
    ///   - configuration: Limits, timeouts, retries, what is done with what broke off.
    ///   - codecs: The formats that are decoded. Default: every format of the package.
    ///   - network: Connections, TLS, proxies.
    ///   - responseCache: Where HTTP responses are kept. Default: in memory, at most 16 MiB.
    ///   - watch: Puts something around the transport that the downloader uses, the response cache included, such as a
    ///     log. Default: nothing.
    public static func standard(
        configuration: Configuration = Configuration(),
        codecs: CodecRegistry = .standard,
        network: CURLOptions = CURLOptions(),
        responseCache: URLResponseCache = URLResponseCache(memoryCapacity: 16 << 20),
        watch: (any HTTPTransport) -> any HTTPTransport = { $0 }
    ) -> Downloader {
        let transport = CachingTransport(wrapping: CURLTransport(options: network), cache: responseCache)
        var configuration = configuration
        if configuration.defaultFields["Accept"] == Configuration().defaultFields["Accept"] {
            configuration.defaultFields["Accept"] = codecs.acceptFieldValue
        }
        return Downloader(transport: watch(transport), configuration: configuration)
    }
}
