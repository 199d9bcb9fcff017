public import AlcedoCore

/// An image loader without network and decoders, for tests of views and view models. A closure returns the responses of
/// loads, a test sets the cached images, and the loader records the requests of loads.
///
/// ```swift
/// import AlcedoCore
/// import AlcedoTesting
///
/// let loader = FakeImageLoader { _, _ in ImageResponse(image: .gray(side: 8), layer: .network) }
/// loader.hold()
/// async let image = loader.image(for: url)
/// try await loader.waitForHeldLoads()
/// // The load is in progress until the test releases it.
/// loader.release()
/// print(try await image.size)
/// ```
///
/// Calls may come from any task.
public final class FakeImageLoader: ImageLoading {
    private struct State: Sendable {
        var images: [ImageKey: DecodedImage] = [:]
        var requests: [ImageRequest] = []
        var isHolding = false
        var heldLoadCount = 0
        /// Distinguishes loads that the last release has let through from those that a later ``hold()`` holds.
        var releaseCount = 0

        /// Records a load. Returns the number of releases that the load must exceed; nil if it is not held.
        mutating func begin(_ request: ImageRequest) -> Int? {
            requests.append(request)
            guard isHolding else { return nil }
            heldLoadCount += 1
            return releaseCount
        }

        mutating func release() {
            isHolding = false
            heldLoadCount = 0
            releaseCount += 1
        }
    }

    private let respond: @Sendable (ImageRequest, @Sendable (LoadUpdate) -> Void) async throws -> ImageResponse
    private let state = Watched(State())

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
    public var requests: [ImageRequest] { state.value.requests }

    /// Holds the loads that begin from now on until ``release()``, before their closure is called. A held load whose
    /// task is canceled ends with `CancellationError`.
    public func hold() { state.update { $0.isHolding = true } }

    /// Lets all held loads continue. Later loads are not held.
    public func release() { state.update { $0.release() } }

    /// Returns once at least `count` loads are held. Throws `CancellationError` when the call must wait and the task is
    /// canceled.
    public func waitForHeldLoads(count: Int = 1) async throws {
        try await state.waitUntil { $0.heldLoadCount >= count }
    }

    /// Sets the image that ``cachedImage(for:)`` returns for requests with the same key. Passing nil removes it.
    public func setCachedImage(_ image: DecodedImage?, for request: ImageRequest) {
        state.update { $0.images[request.key] = image }
    }

    /// Returns the image that ``setCachedImage(_:for:)`` has set for requests with the same key; nil if there is none.
    /// Ignores the cache policy of the request.
    public func cachedImage(for request: ImageRequest) -> DecodedImage? { state.value.images[request.key] }

    /// Records the request and returns what the closure returns. Throws what the closure throws, or `CancellationError`
    /// if the task is canceled while the load is held. Ignores `priority`.
    public func load(
        _ request: ImageRequest, priority: PriorityHandle, onUpdate: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        if let held = state.update({ $0.begin(request) }) { try await waitForRelease(after: held) }
        return try await respond(request, onUpdate)
    }

    private func waitForRelease(after count: Int) async throws {
        do {
            try await state.waitUntil { $0.releaseCount > count }
        } catch {
            state.update { state in
                if state.releaseCount == count { state.heldLoadCount -= 1 }
            }
            throw error
        }
    }
}
