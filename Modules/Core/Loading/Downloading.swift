public import AlcedoHTTP

/// A downloader of the bytes of image sources.
///
/// Methods may be called concurrently from any task. Requests for the same source share one transfer, unless they have
/// an unsafe HTTP method, such as POST. Canceling a task removes the task from the waiters of its transfer. The
/// transfer ends when no waiter is left.
///
/// A downloader awaits the ``DownloadRequest/admission`` of a request before it requests the first byte. An error
/// about a response conforms to ``HTTPResponseError``. The kit `DownloaderConformance` of AlcedoTesting checks these
/// rules.
///
/// A downloader that wraps another one forwards all requirements. Otherwise, the changes that ``modified(_:)`` of the
/// wrapped downloader makes are lost, and responses that vary by its default fields are stored as if they did not.
public protocol Downloading: Sendable {
    /// Downloads the whole content of the source.
    ///
    /// - Parameters:
    ///   - request: The source and the priority of the download.
    ///   - progress: A closure that is called while bytes arrive, on any thread; nil for none. It must not block.
    /// - Returns: The content, with the head of the response if the source is a server.
    /// - Throws: The downloader's error or ``/AlcedoHTTP/HTTPTransportError`` when the download fails, or
    ///   `CancellationError` when the task is canceled.
    func download(
        _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> Download

    /// Whether ``modified(_:)`` may change requests. Constant. The default implementation returns false.
    var modifiesRequests: Bool { get }
    /// Returns a request as the downloader changes it before it sends it, for example with the token of the user.
    ///
    /// A pipeline calls this before it looks in its caches, because only the changed request tells whose image it is,
    /// and sets ``DownloadRequest/isModified``. The default implementation returns `request` unchanged.
    ///
    /// - Throws: The downloader's error if the request must not be sent, or `CancellationError`.
    func modified(_ request: HTTPRequest) async throws -> HTTPRequest
    /// Returns a request with the fields that the downloader adds to every request.
    ///
    /// A response cache below the downloader sees these fields, and servers may vary their responses by them (`Vary`).
    /// The default implementation returns `request` unchanged.
    func addingDefaultFields(to request: HTTPRequest) -> HTTPRequest
    /// The response cache that the downloader uses, or nil when it uses none. Constant. A downloader that wraps another
    /// one returns that one's.
    ///
    /// `ImagePipeline.cache` looks up and removes responses in it. When a request for an HTTP source may not use the
    /// network, a pipeline calls the downloader only if it has one. The default implementation returns nil.
    var responseCache: (any ResponseCacheAccess)? { get }
}

extension Downloading {
    /// Downloads the whole content of the source, without progress.
    ///
    /// - Throws: The downloader's error or ``/AlcedoHTTP/HTTPTransportError`` when the download fails, or
    ///   `CancellationError` when the task is canceled.
    public func download(_ request: DownloadRequest) async throws -> Download {
        try await download(request, progress: nil)
    }

    /// Returns false.
    public var modifiesRequests: Bool { false }

    /// Returns `request` unchanged. Never throws.
    public func modified(_ request: HTTPRequest) async throws -> HTTPRequest { request }

    /// Returns `request` unchanged.
    public func addingDefaultFields(to request: HTTPRequest) -> HTTPRequest { request }

    /// Returns nil.
    public var responseCache: (any ResponseCacheAccess)? { nil }
}
