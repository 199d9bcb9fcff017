import AlcedoCore

/// The interceptors, one behind the other.
struct InterceptorChain: Sendable {
    private let interceptors: [any ImageLoadIntercepting]

    init(_ interceptors: [any ImageLoadIntercepting]) { self.interceptors = interceptors }

    func load(
        _ request: ImageRequest, _ end: @Sendable (ImageRequest) async throws -> ImageResponse
    ) async throws -> ImageResponse {
        try await load(request, from: 0, end)
    }

    private func load(
        _ request: ImageRequest, from index: Int, _ end: @Sendable (ImageRequest) async throws -> ImageResponse
    ) async throws -> ImageResponse {
        guard index < interceptors.count else { return try await end(request) }
        return try await interceptors[index].load(request) { try await load($0, from: index + 1, end) }
    }
}
