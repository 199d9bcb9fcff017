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
    /// - Throws: The downloader's error, ``HTTPTransportError``, or `CancellationError`.
    func download(
        _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> Download

    /// Returns a request with what the downloader adds to each, as a response cache below it sees it: without that,
    /// what the cache has stored by the added fields (`Vary`) is not found. Default: the request as it is.
    func completed(_ request: HTTPRequest) -> HTTPRequest
}

extension Downloading {
    public func completed(_ request: HTTPRequest) -> HTTPRequest { request }
}
