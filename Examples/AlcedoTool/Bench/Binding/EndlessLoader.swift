import Alcedo

/// Has nothing in memory; a load lasts until it is cancelled.
final class EndlessLoader: ImageLoading {
    private let begun = Locked(0)

    /// The loads that were begun.
    var loadCount: Int { begun.withLock { $0 } }

    func cachedImage(for request: ImageRequest) -> DecodedImage? { nil }

    func load(
        _ request: ImageRequest, priority: LivePriority, onUpdate: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        begun.withLock { $0 += 1 }
        // Ends when it is cancelled.
        try await Task.sleep(for: .seconds(86_400))
        throw CancellationError()
    }
}
