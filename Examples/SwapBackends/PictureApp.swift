import Alcedo

/// An app that shows pictures. It knows nothing of caches: that is the point.
struct PictureApp {
    let loader: any ImageLoading

    /// Shows every picture once.
    func show(_ requests: [ImageRequest]) async throws {
        for request in requests { _ = try await loader.image(for: request) }
    }
}
