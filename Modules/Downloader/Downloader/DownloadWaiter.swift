import AlcedoCore

/// One who waits for a download.
struct DownloadWaiter: Sendable {
    typealias Completion = @Sendable (Result<Delivery, any Error>) -> Void

    var progress: (@Sendable (DownloadProgress) -> Void)?
    /// Gets the bytes, of a transfer that was begun for one who wants them.
    var onBytes: DownloadRequest.BytesHandler?
    var complete: Completion
}
