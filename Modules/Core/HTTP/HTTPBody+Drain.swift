extension HTTPBody {
    /// Most bytes of a body that nobody wants which are read all the same.
    private static let drainLimit = 16 << 10

    /// Reads a body that nobody wants to its end, for the sake of the connection and of a cache on the way, unless that
    /// is far away.
    package func drain() async throws {
        do {
            _ = try await collect(limit: Self.drainLimit)
        } catch is HTTPTransportError {
            cancel()
        }
    }
}
