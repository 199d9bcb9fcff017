import AlcedoCURL
import AlcedoCodecs
import AlcedoCore
import AlcedoDiskCache
public import AlcedoDownloader
import AlcedoMemoryCache
public import AlcedoPipeline
import AlcedoURLResponseCache
public import FoundationEssentials

extension DownloaderConfiguration {
    /// The values of AFNetworking's `AFImageDownloader`: 4 downloads at once, the first that was asked for begins
    /// first, 60 seconds without a byte. All else is the default.
    ///
    /// Source: AFNetworking 4, `AFImageDownloader.m`, and `NSURLRequest.timeoutInterval`.
    public static var afImageDownloader: Self {
        var configuration = Self(maxConcurrentDownloads: 4, order: .firstInFirstOut)
        configuration.idleTimeout = .seconds(60)
        return configuration
    }
}

extension ImagePipeline.Configuration {
    /// The stack of AFNetworking's `AFImageDownloader`.
    ///
    /// - Downloads as `DownloaderConfiguration.afImageDownloader` says, with cookies, which are kept in memory only.
    /// - A response cache of 20 MiB in memory and 150 MiB on disk, which keeps answers as HTTP has it; no other bytes are on
    ///   disk.
    /// - Decoded images in an `AutoPurgingImageCache` of 100 MiB, purged to 60 MiB and emptied when memory becomes short.
    ///
    /// Pipelining is off there, and libcurl has none. Access by cellular networks, which can be refused there, is not
    /// known here.
    ///
    /// Source: AFNetworking 4, `AFImageDownloader.m`, `defaultURLCache` and `defaultURLSessionConfiguration`.
    ///
    /// - Parameter cacheDirectory: A directory that belongs to the response cache alone; nil keeps nothing on disk. Default:
    ///   ``afImageDownloaderCacheDirectory``.
    public static func afImageDownloader(cacheDirectory: URL? = afImageDownloaderCacheDirectory) -> Self {
        var network = CURLOptions()
        network.keepsCookies = true
        let disk = cacheDirectory.map {
            // Without an age of their own: how long an answer is good is in the answer.
            FileDiskCache(directory: $0, limits: DataCacheLimits(maximumSize: 150 << 20, maximumAge: nil))
        }
        let responses = URLResponseCache(memoryCapacity: 20 << 20, disk: disk)
        return Self(
            downloader: Downloader.standard(
                configuration: .afImageDownloader, network: network, responseCache: responses),
            codecs: .standard,
            memoryCache: AutoPurgingImageCache(),
            responseCache: responses)
    }

    /// Where ``afImageDownloader(cacheDirectory:)`` keeps responses: `$XDG_CACHE_HOME/alcedo-responses`, else
    /// `~/.cache/alcedo-responses`; nil without a home.
    public static var afImageDownloaderCacheDirectory: URL? { userCache("alcedo-responses") }
}
