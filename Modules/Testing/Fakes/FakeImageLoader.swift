public import AlcedoCore
import AlcedoRuntime

/// A pipeline without caches, network and decoders, for tests of views: a closure loads, and the requests are recorded.
///
/// ```swift
/// import AlcedoCore
/// import AlcedoTesting
///
/// let loader = FakeImageLoader { _, _ in ImageResponse(image: .gray(side: 8), layer: .network) }
/// ```
///
/// Calls may come from any task.
public final class FakeImageLoader: ImageLoading {
    private struct State: Sendable {
        var images: [ImageKey: DecodedImage] = [:]
        var requests: [ImageRequest] = []
    }

    private let respond: @Sendable (ImageRequest, @Sendable (LoadUpdate) -> Void) async throws -> ImageResponse
    private let state = Locked(State())

    /// - Parameter respond: Called for each load, on the task that loads, with the request and what receives previews and
    ///   progress.
    public init(
        _ respond:
            @escaping @Sendable (
                _ request: ImageRequest, _ onUpdate: @Sendable (LoadUpdate) -> Void
            ) async throws -> ImageResponse
    ) {
        self.respond = respond
    }

    /// The requests of the loads so far, in the order they began.
    public var requests: [ImageRequest] { state.withLock { $0.requests } }

    /// Makes an image the one that is in memory for equal requests; nil removes it.
    public func setCachedImage(_ image: DecodedImage?, for request: ImageRequest) {
        state.withLock { $0.images[request.key] = image }
    }

    public func cachedImage(for request: ImageRequest) -> DecodedImage? { state.withLock { $0.images[request.key] } }

    public func load(
        _ request: ImageRequest, priority: PriorityHandle, onUpdate: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        state.withLock { $0.requests.append(request) }
        return try await respond(request, onUpdate)
    }
}
