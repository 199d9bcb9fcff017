public import AlcedoHTTP
public import FoundationEssentials

/// A request to download the bytes of a source.
///
/// ```swift
/// let download = try await downloader.download(DownloadRequest(ImageSource(url), priority: .high))
/// ```
public struct DownloadRequest: Sendable {
    /// A handler for received bytes and their offset in the content. A restarted transfer starts at offset zero again.
    public typealias BytesHandler = @Sendable (_ offset: Int, _ bytes: Data) -> Void

    /// A closure that returns when a transfer may start. Throws only `CancellationError`.
    public typealias Admission = @Sendable () async throws -> Void

    /// The source of the bytes: a server, a file, bytes in memory or a closure.
    public var source: ImageSource
    /// Whether ``Downloading/modified(_:)`` has already changed the request of the source, so that the downloader must
    /// not change it again. Default: false.
    public var isModified = false
    /// The priority of the download. It may change until the download ends.
    public var priority: PriorityHandle
    /// A handler for received bytes and their offset in the content; nil for none. Default: nil.
    ///
    /// A restarted transfer starts at offset zero again. Called on any thread, one call at a time; must not block. A
    /// request that joins a transfer in progress may receive only later bytes, or none.
    public var onBytes: BytesHandler?
    /// A closure that is awaited when the transfer reaches the head of the queue, before the first byte is requested;
    /// nil to start at once. Default: nil.
    ///
    /// The transfer occupies its slot while it waits. The caller uses this to limit the number of received bytes that
    /// it has not processed yet. When requests share a transfer, the closure of the first request applies.
    public var admission: Admission?
    /// The retry policy for transfers from servers, instead of the downloader's policy; nil for the downloader's
    /// policy. Default: nil.
    ///
    /// When requests share a transfer, the policy of the first request applies. Implementations of ``Downloading`` that
    /// do not support retries ignore it.
    public var retry: RetryPolicy?
    /// Whether the transfer begins at once, without a slot of the downloader's queue. Default: false.
    ///
    /// It counts toward no limit of the downloader on concurrent transfers, and neither a rate nor a pause of the
    /// downloader delays it. A limit of the transport, such as that of `CURLTransport`, still applies. For a single
    /// request that must not wait, such as that of the image that the user has just opened; use the
    /// priority otherwise. When requests share a transfer, the value of the first request applies. Implementations of
    /// ``Downloading`` that have no queue ignore it.
    public var skipsQueue = false
    /// A closure that returns the request for a further attempt after a failure, for example with a token that has not
    /// expired; nil sends the same request again. Default: nil.
    ///
    /// A pipeline sets it if modifiers have changed the request. It runs them again, because the pause before an
    /// attempt may be long (`Retry-After`). A request with a closure shares no transfer with others, because their
    /// closures may select other content.
    public var renewal: (@Sendable () async throws -> HTTPRequest)?
    /// The version of the local file that the caller expects; nil if it does not track versions. Default: nil. Requests
    /// for different versions do not share a transfer. The downloader does not check the version.
    package var fileVersion: FileVersion?

    /// Creates a request with a priority of its own, which is normal by default.
    public init(_ source: ImageSource, priority: LoadPriority = .normal) {
        self.init(source, following: PriorityHandle(priority))
    }

    /// Creates a request that follows a priority which the owner may change.
    public init(_ source: ImageSource, following priority: PriorityHandle) {
        self.source = source
        self.priority = priority
    }
}
