public import AlcedoCore

/// Stands in the way of every load of an image, and may do something about it: rewrite the request, try again, keep a log, give an image
/// of its own.
///
/// The interceptors of a pipeline stand one behind the other, the first outermost; behind the last are the caches and the
/// source. Calls come from any task, several at once.
///
/// Not asked are ``ImagePipeline/cachedImage(for:)``, and those who want bytes and no image: ``ImagePipeline/data(for:)``
/// and prefetching to ``PrefetchDestination/disk``. Give these the request as an interceptor would make it.
public protocol ImageLoadInterceptor: Sendable {
    /// - Parameters:
    ///   - request: What is wanted, as the interceptors before this one leave it.
    ///   - next: Goes on with a request; may be called any number of times.
    /// - Throws: What `next` throws, or an error of its own.
    func load(
        _ request: ImageRequest, next: @Sendable (ImageRequest) async throws -> ImageResponse
    ) async throws -> ImageResponse
}

extension [any ImageLoadInterceptor] {
    /// Passes a request through the interceptors, the first outermost, and what they make of it to `end`.
    func load(
        _ request: ImageRequest, from index: Int = 0, _ end: @Sendable (ImageRequest) async throws -> ImageResponse
    ) async throws -> ImageResponse {
        guard index < count else { return try await end(request) }
        return try await self[index].load(request) { try await load($0, from: index + 1, end) }
    }
}
