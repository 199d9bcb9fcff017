import AlcedoCore

/// One who waits for a download.
struct DownloadWaiter: Sendable {
    typealias Completion = @Sendable (Result<Delivery, any Error>) -> Void

    var progress: (@Sendable (DownloadProgress) -> Void)?
    var complete: Completion
}
