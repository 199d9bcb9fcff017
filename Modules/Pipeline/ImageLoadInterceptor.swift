public import AlcedoCore

/// A type that intercepts every load of an image. It can change the request, retry, log, or return its own image.
///
/// ```swift
/// struct RetryOnce: ImageLoadInterceptor {
///     func load(
///         _ request: ImageRequest, next: @Sendable (ImageRequest) async throws -> ImageResponse
///     ) async throws -> ImageResponse {
///         do {
///             return try await next(request)
///         } catch let error as PipelineError where error.code == .download {
///             return try await next(request)
///         }
///     }
/// }
/// ```
///
/// A pipeline calls its interceptors in order, the first as the outermost. The last one's `next` continues with the
/// caches and the source, then with the request's ``/AlcedoCore/ImageRequest/alternativeSources``. Calls come from any
/// task, several concurrently.
///
/// Interceptors are not called for ``ImagePipeline/cachedImage(for:)``, nor for ``ImagePipeline/data(for:)`` and
/// prefetching to ``PrefetchDestination/disk``, which load bytes and no image. Apply an interceptor's changes to a
/// request before you pass it to these.
public protocol ImageLoadInterceptor: Sendable {
    /// Loads the image of a request.
    ///
    /// - Parameters:
    ///   - request: The request, as changed by the interceptors before this one.
    ///   - next: Continues the load with a request. It can be called any number of times.
    /// - Throws: The errors of `next`, or the interceptor's own.
    func load(
        _ request: ImageRequest, next: @Sendable (ImageRequest) async throws -> ImageResponse
    ) async throws -> ImageResponse
}

extension [any ImageLoadInterceptor] {
    /// Passes a request through the interceptors, the first as the outermost, and the resulting request to `end`.
    func load(
        _ request: ImageRequest, from index: Int = 0, _ end: @Sendable (ImageRequest) async throws -> ImageResponse
    ) async throws -> ImageResponse {
        guard index < count else { return try await end(request) }
        return try await self[index].load(request) { try await load($0, from: index + 1, end) }
    }
}
