import Alcedo

/// An app that shows pictures. It knows nothing of caches: that is the point.
struct PictureApp {
    let loader: any ImageLoading

    /// Shows every picture once.
    ///
    /// - Returns: Why pictures are missing, by their places among the requests.
    /// - Throws: `CancellationError` alone.
    func show(_ requests: [ImageRequest]) async throws -> [Int: any Error] {
        var problems: [Int: any Error] = [:]
        for (place, request) in requests.enumerated() {
            do {
                _ = try await loader.image(for: request)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                problems[place] = error
            }
        }
        return problems
    }
}
