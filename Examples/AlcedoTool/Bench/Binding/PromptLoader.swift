import Alcedo

/// Has nothing in memory and every image at once.
struct PromptLoader: ImageLoading {
    let image: DecodedImage

    func cachedImage(for request: ImageRequest) -> DecodedImage? { nil }

    func load(
        _ request: ImageRequest, priority: LivePriority, onUpdate: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        ImageResponse(image: image, layer: .network)
    }
}
