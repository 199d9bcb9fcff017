import AlcedoCore

extension HTTPBody {
    /// Receives the body without keeping it, for the sake of the caches on the way. A body of more than `limit` bytes
    /// is cancelled.
    ///
    /// - Parameter declaredCount: The length that the head declares; nil when it declares none.
    /// - Throws: The transport's error, or `CancellationError`.
    func receive(limit: Int, declaredCount: Int?) async throws {
        var left = limit
        guard declaredCount ?? 0 <= left else { return cancel() }
        for try await piece in self {
            guard piece.count <= left else { return cancel() }
            left -= piece.count
        }
    }
}
