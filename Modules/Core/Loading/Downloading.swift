public import AlcedoHTTP
public import FoundationEssentials

/// Fetches the bytes of a source.
///
/// Calls may come from any task at the same time; equal requests share one transfer. Cancelling the task leaves it,
/// and ends the transfer when nobody else waits for it.
public protocol Downloading: Sendable {
    /// Returns the whole content of the source.
    ///
    /// - Parameters:
    ///   - request: What is wanted, and how urgently.
    ///   - progress: Called while bytes arrive, from any thread; must not block.
    /// - Throws: The downloader's error, ``/AlcedoHTTP/HTTPTransportError``, or `CancellationError`.
    func download(
        _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> Download

    /// Returns a request with what the downloader adds to each, as a response cache below it sees it: without that,
    /// what the cache has stored by the added fields (`Vary`) is not found. Default: the request as it is.
    func completed(_ request: HTTPRequest) -> HTTPRequest
}

extension Downloading {
    /// Returns the whole content of the source.
    ///
    /// - Throws: The downloader's error, ``/AlcedoHTTP/HTTPTransportError``, or `CancellationError`.
    public func download(_ request: DownloadRequest) async throws -> Download {
        try await download(request, progress: nil)
    }

    public func completed(_ request: HTTPRequest) -> HTTPRequest { request }
}

/// Asks for the bytes of a source.
public struct DownloadRequest: Sendable {
    /// Takes bytes as they come: where they belong, and what they are. A transfer that has to begin anew starts at nought
    /// again.
    package typealias BytesHandler = @Sendable (_ offset: Int, _ bytes: Data) -> Void

    /// Returns when a transfer may begin. Throws `CancellationError` only.
    package typealias Admission = @Sendable () async throws -> Void

    /// Where the bytes come from.
    public var source: ImageSource
    /// How urgent the download is. May change until it has ended.
    public var priority: PriorityHandle
    /// Is given the bytes as they come, and where they belong; nil: nobody is. A transfer that begins again starts at zero. Called from any thread, one call at a time; must not block. Who
    /// joins a transfer that is under way may be given those that come from then on, or none.
    public var onBytes: (@Sendable (_ offset: Int, _ bytes: Data) -> Void)?
    /// Is awaited when it is the transfer's turn, before the first byte is requested; the transfer keeps its slot
    /// meanwhile. A caller bounds with it how many bytes arrive that it has not used yet. When requests share a transfer,
    /// the first request's counts. Default: nil, the transfer begins at its turn.
    package var admission: Admission?
    /// How often a failed transfer from a server is tried again, in place of the downloader's own policy. When requests
    /// share a transfer, the first request's counts. A downloader that never retries ignores it. Default: nil, the
    /// downloader's own.
    public var retry: RetryPolicy?
    /// The version of the local file that is wanted: requests for different ones share no transfer.
    package var fileVersion: FileVersion?

    /// A request with a priority of its own.
    public init(_ source: ImageSource, priority: LoadPriority = .normal) {
        self.init(source, following: PriorityHandle(priority))
    }

    /// A request whose priority is changed by its owner.
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

/// The content of a source.
public struct Download: Sendable {
    /// The whole content.
    public var data: Data
    /// The head of the answer, when the source is a server; its URL is the last one of a chain of redirects.
    public var head: HTTPResponseHead?
    /// The part of a caching transport that the content came from; nil without one.
    public var responseSource: ResponseSource? { caching?.source }
    /// What a response cache did; nil when there is none.
    package var caching: ResponseCaching?
    /// The times and sizes of the last exchange with the server; nil where the transport does not measure.
    public var metrics: HTTPTransferMetrics?

    /// Creates the result of a download.
    ///
    /// - Parameters:
    ///   - data: The whole content.
    ///   - response: The response whose body the content is: its head, its metrics and whether it may be stored.
    ///     Default: nil, the source is no server.
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

    /// Whether a copy may be kept on disk. The response cache's decision counts; without one, whether the server forbids
    /// it (RFC 9111 section 5.2.2.5).
    package var allowsStoring: Bool {
        if let caching { return caching.decision.policy == .allowed }
        return head.map { !$0.fields.list("Cache-Control", contains: "no-store") } ?? true
    }
}

/// How far a transfer is.
public struct DownloadProgress: Sendable, Hashable {
    /// Bytes that have arrived.
    public var received: Int
    /// Bytes there will be; nil when the source does not say.
    public var expected: Int?

    /// So many bytes of so many; nil where nobody knows.
    public init(received: Int, expected: Int?) {
        self.received = received
        self.expected = expected
    }
}
