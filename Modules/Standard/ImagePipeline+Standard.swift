public import AlcedoCURL
public import AlcedoCodecs
import AlcedoColor
public import AlcedoCore
import AlcedoDiskCache
public import AlcedoDownloader
public import AlcedoHTTP
import AlcedoMemoryCache
public import AlcedoPipeline
public import AlcedoURLResponseCache
public import FoundationEssentials

extension ImagePipeline.Configuration {
    /// Returns the default configuration, which can be changed before a pipeline is created.
    ///
    /// ```swift
    /// var configuration = ImagePipeline.Configuration.standard(diskLimit: 1 << 30)
    /// configuration.observers = [TextLogger { print($0) }]
    /// let pipeline = ImagePipeline(configuration)
    /// ```
    ///
    /// Decoded images are kept in memory, and original bytes on disk. HTTP runs over libcurl, with a response cache in
    /// memory. The codecs are PNG, JPEG, GIF and WebP, and Little CMS converts colors to sRGB. To replace a part,
    /// change the returned value, or write a function like this one.
    ///
    /// - Parameters:
    ///   - cacheDirectory: A directory used by the disk cache alone, or nil to store nothing on disk. The first write
    ///     creates it. Default: ``cacheDirectory(named:)``.
    ///   - memoryLimit: The maximum number of bytes of decoded images, or nil for 15 % of the memory that this process
    ///     may use, at most 768 MiB. The cache evicts half of its bytes when memory is short, and everything when it is
    ///     critically short. An evicted image is still found while it is in use, for example in a view. Default: nil.
    ///   - diskLimit: The maximum number of bytes on disk. An entry expires seven days after its last use. Default: 256
    ///     MiB.
    ///   - responseLimit: The maximum number of bytes of HTTP responses in memory. Unused with a `downloader`. Default:
    ///     16 MiB.
    ///   - downloader: The downloader, or nil for `Downloader.standard` with its defaults. Default: nil.
    ///   - clock: The clock of the pipeline, its caches and the default downloader, such as a `ManualClock` of
    ///     `AlcedoTesting`. Default: the system's clock.
    ///   - taskExecutor: The executor of the tasks of the pipeline and the default downloader, such as a
    ///     `ManualExecutor` of `AlcedoTesting`. Default: nil, for Swift's executor and the threads of each part.
    public static func standard(
        cacheDirectory: URL? = Self.cacheDirectory(),
        memoryLimit: Int? = nil,
        diskLimit: Int = 256 << 20,
        responseLimit: Int = 16 << 20,
        downloader: (any Downloading)? = nil,
        clock: any TimeSource = SystemClock(),
        taskExecutor: (any TaskExecutor)? = nil
    ) -> Self {
        let responses = URLResponseCache(memoryLimit: responseLimit, clock: clock)
        var network = DownloaderConfiguration()
        network.taskExecutor = taskExecutor
        return Self(
            downloader: downloader
                ?? Downloader.standard(configuration: network, responseCache: responses, clock: clock),
            codecs: .standard,
            colorConverter: LittleCMSColorConverter(),
            memoryCache: ImageMemoryCache(
                costLimit: memoryLimit ?? ImageMemoryCache.defaultCostLimit,
                findsReferencedValues: true,
                pressureSource: SystemMemoryPressureSource.shared,
                clock: clock),
            diskCache: cacheDirectory.map { FileDiskCache(directory: $0, sizeLimit: diskLimit, clock: clock) },
            clock: clock,
            taskExecutor: taskExecutor)
    }

    /// Returns a directory in the user's cache directory, which is `$XDG_CACHE_HOME`, or `$HOME/.cache` if that
    /// variable is not an absolute path. Returns nil if `HOME` is not an absolute path either. The directory need not
    /// exist.
    ///
    /// Source: XDG Base Directory Specification 0.8, which requires relative paths to be ignored.
    ///
    /// - Parameter name: The name of the directory. Default: `alcedo`, the directory of the default disk cache.
    public static func cacheDirectory(named name: String = "alcedo") -> URL? {
        let environment = ProcessInfo.processInfo.environment
        if let caches = environment["XDG_CACHE_HOME"], caches.hasPrefix("/") {
            return URL(filePath: caches).appending(path: name, directoryHint: .isDirectory)
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return URL(filePath: home).appending(path: ".cache/\(name)", directoryHint: .isDirectory)
    }
}

extension ImagePipeline {
    /// Returns a pipeline with the default configuration. Each call creates new caches, so keep the pipeline and use it
    /// again.
    ///
    /// ```swift
    /// let pipeline = ImagePipeline.standard()
    /// ```
    ///
    /// - Parameters:
    ///   - cacheDirectory: A directory used by the disk cache alone, or nil to store nothing on disk. Default:
    ///     ``Configuration/cacheDirectory(named:)``.
    ///   - memoryLimit: The maximum number of bytes of decoded images, or nil for 15 % of the memory that this process
    ///     may use, at most 768 MiB. Default: nil.
    ///   - diskLimit: The maximum number of bytes on disk. Default: 256 MiB.
    ///   - responseLimit: The maximum number of bytes of HTTP responses in memory. Unused with a `downloader`. Default:
    ///     16 MiB.
    ///   - downloader: The downloader, or nil for `Downloader.standard` with its defaults. Default: nil.
    /// - SeeAlso: The function of the same name of ``Configuration``, which returns a configuration that can be changed
    ///   before a pipeline is created.
    public static func standard(
        cacheDirectory: URL? = Configuration.cacheDirectory(),
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
    /// Returns the default downloader: libcurl behind a response cache in memory.
    ///
    /// ```swift
    /// let downloader = Downloader.standard(configuration: DownloaderConfiguration(maxConcurrentDownloads: 8))
    /// ```
    ///
    /// When the configuration has the default `Accept` field, its value is replaced by the formats of `codecs`,
    /// followed by any image type and any type. A different `Accept` in the configuration's default fields is not
    /// changed.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of downloads: limits, timeouts, retries and the handling of interrupted
    ///     downloads. Default: `DownloaderConfiguration()`.
    ///   - codecs: The codecs of the formats that the pipeline decodes. Default: `CodecRegistry.standard`.
    ///   - network: The options of connections, TLS and proxies. Default: `CURLOptions()`.
    ///   - responseCache: The cache of HTTP responses. Default: in memory, at most 16 MiB.
    ///   - clock: The clock of the downloader. The response cache has its own. Default: the system's clock.
    ///   - watch: A closure that wraps the transport of the downloader, including the response cache, for example in a
    ///     logger. Default: the transport itself.
    public static func standard(
        configuration: DownloaderConfiguration = DownloaderConfiguration(),
        codecs: CodecRegistry = .standard,
        network: CURLOptions = CURLOptions(),
        responseCache: URLResponseCache = URLResponseCache(memoryLimit: 16 << 20),
        clock: any TimeSource = SystemClock(),
        watch: (any HTTPTransport) -> any HTTPTransport = { $0 }
    ) -> Downloader {
        let transport = CachingTransport(
            wrapping: CURLTransport(options: network), cache: responseCache, taskExecutor: configuration.taskExecutor)
        var configuration = configuration
        if configuration.defaultFields["Accept"] == DownloaderConfiguration().defaultFields["Accept"] {
            configuration.defaultFields["Accept"] = codecs.acceptFieldValue
        }
        return Downloader(
            transport: watch(transport), configuration: configuration, responseCache: responseCache, clock: clock)
    }
}
