public import FoundationEssentials

/// What a view needs of a pipeline.
///
/// Calls may come from any thread or task at the same time.
public protocol ImageLoading: Sendable {
    /// Returns the finished image if it is in memory. Synchronous; does no input or output, but for one `stat` of a local
    /// file whose changes are tracked (``ImageRequest/tracksFileChanges``).
    func cachedImage(for request: ImageRequest) -> DecodedImage?
    /// Returns the image, from the nearest layer that has it.
    ///
    /// - Parameters:
    ///   - request: What is wanted.
    ///   - priority: How urgent the load is, in place of the request's own; the caller may change it at any time.
    ///   - onUpdate: Is told how the load goes, from any thread; must not block. A last call may come when the load has
    ///     ended.
    /// - Throws: The pipeline's error, or `CancellationError`.
    func load(
        _ request: ImageRequest, priority: PriorityHandle, onUpdate: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse
}

extension ImageLoading {
    /// Returns the image, from the nearest layer that has it, as urgently as the request says.
    ///
    /// - Parameters:
    ///   - request: What is wanted.
    ///   - progress: Called while bytes arrive, from any thread; must not block. Default: nobody is told.
    /// - Throws: As ``load(_:priority:onUpdate:)`` does.
    public func load(
        _ request: ImageRequest, progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> ImageResponse {
        try await load(request, priority: PriorityHandle(request.priority)) { update in
            if case .progress(let step) = update { progress?(step) }
        }
    }

    /// Returns the image, from the nearest layer that has it. Throws as ``load(_:priority:onUpdate:)`` does.
    public func image(for request: ImageRequest) async throws -> DecodedImage {
        try await load(request).image
    }

    /// Returns the image that `url` names, whole and as it is, from the nearest layer that has it.
    ///
    /// ```swift
    /// let image = try await pipeline.image(for: url)
    /// ```
    ///
    /// Throws as ``load(_:priority:onUpdate:)`` does; a scheme that nothing fetches is such an error.
    public func image(for url: URL) async throws -> DecodedImage { try await image(for: ImageRequest(url: url)) }

    /// Returns the image that `url` names, whole and as it is, and where it came from.
    ///
    /// Throws as ``load(_:priority:onUpdate:)`` does; a scheme that nothing fetches is such an error.
    public func load(_ url: URL) async throws -> ImageResponse { try await load(ImageRequest(url: url)) }
}

/// What is told of a load before it ends.
public enum LoadUpdate: Sendable {
    /// How far the download is.
    case progress(DownloadProgress)
    /// A picture of what has come, when the request wants them.
    case preview(ImagePreview)
    /// What the caches have, when the request wants to show that first.
    case cached(ImageResponse)
}
