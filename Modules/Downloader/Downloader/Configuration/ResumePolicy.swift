public import AlcedoCore

/// A policy for resuming interrupted transfers.
///
/// ```swift
/// import AlcedoDiskCache
/// import AlcedoDownloader
/// import FoundationEssentials
///
/// func makeConfiguration(partsDirectory: URL) -> DownloaderConfiguration {
///     let storage = FileDiskCache(directory: partsDirectory, sizeLimit: 256 << 20)
///     var configuration = DownloaderConfiguration()
///     configuration.resume = ResumePolicy(storage: storage, lifetime: .seconds(86_400))
///     return configuration
/// }
/// ```
///
/// Only a GET request that has no body, no range and no conditions of its own is resumed. The response must have a
/// strong validator, which ensures that parts of two different versions are never combined. The response must have no
/// content coding. Sources: RFC 9110 sections 13.1.5 (If-Range), 14 and 15.3.7.
public struct ResumePolicy: Sendable {
    /// A data cache, on disk or in memory, that keeps partial content for later downloads, including those of later
    /// processes. The cache's own limits bound the total size. Content is not kept if the server or the request forbids
    /// storing it. Default: nil, nothing is kept.
    public var storage: (any DataCaching)?
    /// The time for which partial content is kept. A negative time counts as zero. Default: 7 days.
    public var lifetime: Duration
    /// The maximum number of bytes that are kept of one download; the rest is downloaded again. A negative number
    /// counts as zero. Default: 256 MiB.
    public var maximumByteCount: Int
    /// The minimum number of bytes in each piece that is stored while content arrives. If the process dies, the bytes
    /// of the incomplete piece are lost. Default: 512 KiB.
    package var pieceByteCount = 512 << 10
    /// The minimum number of bytes in the last piece, which is stored when a transfer ends early. Fewer bytes are not
    /// stored. Default: 32 KiB.
    package var minimumByteCount = 32 << 10

    /// Creates a policy. By default nothing is kept after the download has ended. The parameters are the properties of
    /// the same names.
    public init(
        storage: (any DataCaching)? = nil, lifetime: Duration = .seconds(7 * 86_400), maximumByteCount: Int = 256 << 20
    ) {
        self.storage = storage
        self.lifetime = lifetime
        self.maximumByteCount = maximumByteCount
    }
}
