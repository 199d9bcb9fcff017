/// What a view needs of a pipeline.
///
/// Calls may come from any thread or task at the same time.
public protocol ImageLoading: Sendable {
    /// Returns the finished image if it is in memory. Synchronous; does no input or output.
    func cachedImage(for request: ImageRequest) -> DecodedImage?
    /// Returns the image, from the nearest layer that has it.
    ///
    /// - Parameter progress: Called while bytes arrive, from any thread; must not block.
    /// - Throws: The pipeline's error, or `CancellationError`.
    func load(
        _ request: ImageRequest, progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> ImageResponse
}

extension ImageLoading {
    /// Returns the image, from the nearest layer that has it. Throws as ``load(_:progress:)`` does.
    public func image(for request: ImageRequest) async throws -> DecodedImage {
        try await load(request, progress: nil).image
    }
}
