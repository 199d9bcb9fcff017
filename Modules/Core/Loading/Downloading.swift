public import AlcedoHTTP
public import FoundationEssentials

/// A downloader of the bytes of image sources.
///
/// Methods may be called concurrently from any task. Equal requests share one transfer. Cancelling a task removes it
/// from the waiters of its transfer; the transfer ends when no waiter is left.
public protocol Downloading: Sendable {
    /// Downloads the whole content of the source.
    ///
    /// - Parameters:
    ///   - request: The source and the priority of the download.
    ///   - progress: Called while bytes arrive, on any thread; must not block. nil for no calls.
    /// - Returns: The content, with the head of the response if the source is a server.
    /// - Throws: The downloader's error, ``/AlcedoHTTP/HTTPTransportError``, or `CancellationError`.
    func download(
        _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> Download

    /// Returns a request with the fields that the downloader adds to every request.
    ///
    /// A response cache below the downloader sees these fields. Without them, a lookup does not find the responses that
    /// vary by them (`Vary`). Default: returns `request` unchanged.
    func addingDefaultFields(to request: HTTPRequest) -> HTTPRequest
}

extension Downloading {
    /// Downloads the whole content of the source, without progress.
    ///
    /// - Throws: The downloader's error, ``/AlcedoHTTP/HTTPTransportError``, or `CancellationError`.
    public func download(_ request: DownloadRequest) async throws -> Download {
        try await download(request, progress: nil)
    }

    /// Returns `request` unchanged.
    public func addingDefaultFields(to request: HTTPRequest) -> HTTPRequest { request }
}

/// A request to download the bytes of a source.
///
/// ```swift
/// let download = try await downloader.download(DownloadRequest(ImageSource(url), priority: .high))
/// ```
public struct DownloadRequest: Sendable {
    /// A handler for received bytes and their offset in the content. A restarted transfer starts at offset zero again.
    package typealias BytesHandler = @Sendable (_ offset: Int, _ bytes: Data) -> Void

    /// A closure that returns when a transfer may start. Throws only `CancellationError`.
    package typealias Admission = @Sendable () async throws -> Void

    /// The source of the bytes.
    public var source: ImageSource
    /// The priority of the download. It may change until the download ends.
    public var priority: PriorityHandle
    /// A handler for received bytes and their offset in the content; nil for none. Default: nil.
    ///
    /// A restarted transfer starts at offset zero again. Called on any thread, one call at a time; must not block. A
    /// request that joins a transfer in progress may receive only later bytes, or none.
    public var onBytes: (@Sendable (_ offset: Int, _ bytes: Data) -> Void)?
    /// A closure that is awaited when the transfer reaches the head of the queue, before the first byte is requested;
    /// nil to start at once. Default: nil.
    ///
    /// The transfer occupies its slot while it waits. The caller uses this to limit the number of received bytes that
    /// it has not processed yet. When requests share a transfer, the closure of the first request applies.
    package var admission: Admission?
    /// The retry policy for transfers from servers, instead of the downloader's policy; nil for the downloader's
    /// policy. Default: nil.
    ///
    /// When requests share a transfer, the policy of the first request applies. A downloader without retries ignores
    /// it.
    public var retry: RetryPolicy?
    /// The requested version of the local file. Requests for different versions do not share a transfer.
    package var fileVersion: FileVersion?

    /// Creates a request with a priority of its own.
    public init(_ source: ImageSource, priority: LoadPriority = .normal) {
        self.init(source, following: PriorityHandle(priority))
    }

    /// Creates a request that follows a priority which the owner may change.
    package init(
        _ source: ImageSource, following priority: PriorityHandle, onBytes: BytesHandler? = nil,
        admission: Admission? = nil
    ) {
        self.source = source
        self.priority = priority
        self.onBytes = onBytes
        self.admission = admission
    }
}

/// The downloaded content of a source.
public struct Download: Sendable {
    /// The whole content.
    public var data: Data
    /// The head of the response, if the source is a server. Its URL is the last URL of a redirect chain.
    public var head: HTTPResponseHead?
    /// The part of the caching transport that supplied the content; nil without a caching transport.
    public var responseSource: ResponseSource? { caching?.source }
    /// The decisions of a response cache about this response; nil without a response cache.
    package var caching: ResponseCaching?
    /// The times and sizes of the last exchange with the server; nil if the transport does not measure.
    public var metrics: HTTPTransferMetrics?

    /// Creates the result of a download.
    ///
    /// - Parameters:
    ///   - data: The whole content.
    ///   - response: The response whose body is the content. It supplies the head, the metrics and the decision about
    ///     storing. Default: nil, for a source that is not a server.
    public init(data: Data, response: HTTPResponse? = nil) {
        self.init(data: data, head: response?.head, caching: response?.caching, metrics: response?.metrics)
    }

    package init(
        data: Data, head: HTTPResponseHead?, caching: ResponseCaching? = nil, metrics: HTTPTransferMetrics? = nil
    ) {
        self.data = data
        self.head = head
        self.caching = caching
        self.metrics = metrics
    }

    /// Whether a copy may be stored on disk. The decision of the response cache applies. Without a response cache,
    /// `no-store` in the response's `Cache-Control` field forbids it (RFC 9111 section 5.2.2.5).
    package var allowsStoring: Bool {
        if let caching { return caching.decision.policy == .allowed }
        return head.map { !$0.fields.list("Cache-Control", contains: "no-store") } ?? true
    }
}

/// The progress of a transfer.
public struct DownloadProgress: Sendable, Hashable {
    /// The number of bytes received.
    public var received: Int
    /// The total number of bytes; nil if the source does not specify it.
    public var expected: Int?

    /// Creates the progress of a transfer.
    public init(received: Int, expected: Int?) {
        self.received = received
        self.expected = expected
    }
}
