import AlcedoCURL
import AlcedoCodecs
import AlcedoColor
public import AlcedoCore
import AlcedoDiskCache
public import AlcedoDownloader
import AlcedoMemoryCache
public import AlcedoPipeline
import AlcedoURLResponseCache
public import FoundationEssentials

extension DownloaderConfiguration {
    /// The configuration of AFNetworking's `AFImageDownloader`: 4 concurrent downloads in the order of the requests,
    /// and an idle timeout of 60 seconds. All other values are the defaults.
    ///
    /// Source: AFNetworking 4, `AFImageDownloader.m`, and `NSURLRequest.timeoutInterval`.
    public static var afImageDownloader: Self {
        var configuration = Self(maxConcurrentDownloads: 4, order: .firstInFirstOut)
        configuration.idleTimeout = .seconds(60)
        return configuration
    }
}

extension ImagePipeline.Configuration {
    /// Returns a configuration with the settings of AFNetworking's `AFImageDownloader`.
    ///
    /// ```swift
    /// let pipeline = ImagePipeline(.afImageDownloader())
    /// ```
    ///
    /// - Downloads follow `DownloaderConfiguration.afImageDownloader`. Cookies are kept in memory only.
    /// - A response cache of 20 MiB in memory and 150 MiB on disk stores responses by the rules of HTTP. Nothing else
    ///   is stored on disk.
    /// - Decoded images are kept in an `AutoPurgingImageCache` of 100 MiB. When the images exceed this size, they are
    ///   purged to 60 MiB. When memory is short, all of them are removed.
    ///
    /// Two settings of `AFImageDownloader` have no equivalent. The first turns off HTTP pipelining, which libcurl does
    /// not support. The second can refuse cellular networks, which this package does not detect.
    ///
    /// Source: AFNetworking 4, `AFImageDownloader.m`, `defaultURLCache` and `defaultURLSessionConfiguration`.
    ///
    /// - Parameters:
    ///   - cacheDirectory: A directory used by the response cache alone, or nil to store nothing on disk. Default: the
    ///     directory `alcedo-responses` in the user's cache directory; see ``cacheDirectory(named:)``.
    ///   - clock: The clock of the pipeline, its caches and the downloader, such as a `ManualClock` of `AlcedoTesting`.
    ///     Default: the system's clock.
    ///   - taskExecutor: The executor of the tasks of the pipeline and the downloader, such as a `ManualExecutor` of
    ///     `AlcedoTesting`. Default: nil, for Swift's executor and the threads of each part.
    public static func afImageDownloader(
        cacheDirectory: URL? = Self.cacheDirectory(named: "alcedo-responses"),
        clock: any TimeSource = SystemClock(),
        taskExecutor: (any TaskExecutor)? = nil
    ) -> Self {
        var downloads = DownloaderConfiguration.afImageDownloader
        downloads.taskExecutor = taskExecutor
        var network = CURLOptions()
        network.keepsCookies = true
        let disk = cacheDirectory.map {
            // No maximum age: each response states its own freshness.
            FileDiskCache(
                directory: $0, limits: DataCacheLimits(sizeLimit: 150 << 20, maximumAge: nil), clock: clock)
        }
        let responses = URLResponseCache(memoryLimit: 20 << 20, disk: disk, clock: clock)
        return Self(
            downloader: Downloader.standard(
                configuration: downloads, network: network, responseCache: responses, clock: clock),
            codecs: .standard,
            colorConverter: LittleCMSColorConverter(),
            memoryCache: AutoPurgingImageCache(),
            clock: clock,
            taskExecutor: taskExecutor)
    }
}
