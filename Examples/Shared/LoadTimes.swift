import Alcedo

/// Times loads, each from its beginning to its end.
final class LoadTimes: ImageLoadIntercepting {
    private static let field = "index"

    private let times = Locked<[Int: Duration]>([:])

    /// The request, with the index that its time is kept under.
    static func marked(_ request: ImageRequest, _ index: Int) -> ImageRequest {
        var request = request
        request.userInfo[field] = index
        return request
    }

    /// Of the last load with this index that went well.
    subscript(index: Int) -> Duration { times.withLock { $0[index] ?? .zero } }

    func load(
        _ request: ImageRequest, next: @Sendable (ImageRequest) async throws -> ImageResponse
    ) async throws -> ImageResponse {
        let start = ContinuousClock.now
        let response = try await next(request)
        if let index = request.userInfo[Self.field] as? Int {
            times.withLock { $0[index] = ContinuousClock.now - start }
        }
        return response
    }
}
