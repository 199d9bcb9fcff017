public import FoundationEssentials

/// The protocol by which views and view models load images. A pipeline conforms to it, and so does the fake of a test.
///
/// Methods may be called concurrently from any thread or task.
public protocol ImageLoading: Sendable {
    /// Returns the finished image from the memory cache. Returns nil when the cache does not have it, or when the cache
    /// policy of the request does not allow reading the cache.
    ///
    /// Synchronous. Performs no input or output, except for one `stat` call for a local file whose changes are tracked
    /// (``ImageRequest/tracksFileChanges``).
    func cachedImage(for request: ImageRequest) -> DecodedImage?
    /// Loads the image of a request from the nearest layer that has it.
    ///
    /// - Parameters:
    ///   - request: The image to load.
    ///   - priority: The priority of the load, which replaces that of the request. The caller may change it at any
    ///     time.
    ///   - onUpdate: A closure that receives updates of the load, on any thread. It must not block. One last call may
    ///     follow the end of the load.
    /// - Returns: The image and its origin.
    /// - Throws: The loader's error when the image cannot be loaded, or `CancellationError` when the task is canceled.
    func load(
        _ request: ImageRequest, priority: PriorityHandle, onUpdate: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse
}

extension ImageLoading {
    /// Loads the image of a request from the nearest layer that has it, with the priority of the request.
    ///
    /// - Parameters:
    ///   - request: The image to load.
    ///   - progress: A closure that is called while bytes arrive, on any thread. It must not block. One last call may
    ///     follow the end of the load. Default: nil, for none.
    /// - Returns: The image and its origin.
    /// - Throws: The errors of ``load(_:priority:onUpdate:)``.
    public func load(
        _ request: ImageRequest, progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> ImageResponse {
        try await load(request, priority: PriorityHandle(request.priority)) { update in
            if case .progress(let step) = update { progress?(step) }
        }
    }

    /// Loads the image of a request from the nearest layer that has it. Throws the errors of
    /// ``load(_:priority:onUpdate:)``.
    public func image(for request: ImageRequest) async throws -> DecodedImage {
        try await load(request).image
    }

    /// Loads the image at `url` at full size, without processing, from the nearest layer that has it.
    ///
    /// ```swift
    /// let image = try await pipeline.image(for: url)
    /// ```
    ///
    /// Throws the errors of ``load(_:priority:onUpdate:)``, also for a URL with an unsupported scheme.
    public func image(for url: URL) async throws -> DecodedImage { try await image(for: ImageRequest(url: url)) }

    /// Loads the image at `url` at full size, without processing, and returns it with its origin.
    ///
    /// Throws the errors of ``load(_:priority:onUpdate:)``, also for a URL with an unsupported scheme.
    public func load(_ url: URL) async throws -> ImageResponse { try await load(ImageRequest(url: url)) }
}

/// An update that a load reports before it ends.
public enum LoadUpdate: Sendable {
    /// The bytes received so far, and the expected number if the response declares it. Images from memory and disk
    /// have no progress.
    case progress(DownloadProgress)
    /// A preview image, decoded from the bytes received so far. Requires ``ImageRequest/deliversPreviews``.
    case preview(ImagePreview)
    /// The cached image. Requires ``ImageRequest/showsCachedFirst``.
    case cached(ImageResponse)
}
