import AlcedoCore

/// One who waits for a download.
struct DownloadWaiter: Sendable {
    var progress: (@Sendable (DownloadProgress) -> Void)?
    var complete: @Sendable (Result<Download, any Error>) -> Void
}
