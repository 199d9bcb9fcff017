public import AlcedoCore
import AlcedoRuntime

/// An image loader without caches, network and decoders, for tests of views. A closure returns the images, and the
/// loader records the requests.
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

    /// Creates a loader that loads with a closure.
    ///
    /// - Parameter respond: A closure that returns the response of a load, or throws its error. It is called for each
    ///   load, on the task that loads. Its second argument delivers updates, such as previews, to the caller.
    public init(
        _ respond:
            @escaping @Sendable (
                _ request: ImageRequest, _ onUpdate: @Sendable (LoadUpdate) -> Void
            ) async throws -> ImageResponse
    ) {
        self.respond = respond
    }

    /// The requests of the loads so far, in the order in which the loads began.
    public var requests: [ImageRequest] { state.withLock { $0.requests } }

    /// Sets the image that ``cachedImage(for:)`` returns for requests with the same key. Passing nil removes it.
    public func setCachedImage(_ image: DecodedImage?, for request: ImageRequest) {
        state.withLock { $0.images[request.key] = image }
    }

    /// Returns the image that ``setCachedImage(_:for:)`` has set for requests with the same key; nil if there is none.
    public func cachedImage(for request: ImageRequest) -> DecodedImage? { state.withLock { $0.images[request.key] } }

    /// Records the request and returns what the closure returns. Throws what the closure throws. Ignores `priority`.
    public func load(
        _ request: ImageRequest, priority: PriorityHandle, onUpdate: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        state.withLock { $0.requests.append(request) }
        return try await respond(request, onUpdate)
    }
}
