extension HTTPBody {
    /// Most bytes of a body that nobody wants which are read all the same.
    private static let drainLimit = 16 << 10
    /// Longest time that is waited for them: about a round trip, which a connection of its own would cost.
    private static let drainTime = Duration.milliseconds(100)

    /// Reads a body that nobody wants to its end, for the sake of the connection and of a cache on the way, unless that
    /// is far away.
    ///
    /// - Throws: `CancellationError`.
    package func drain(_ time: any TimeSource) async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await collect(limit: Self.drainLimit) }
                group.addTask {
                    try await time.sleep(for: Self.drainTime)
                    throw HTTPTransportError(.timedOut, "the body takes longer than it is worth")
                }
                defer { group.cancelAll() }
                do {
                    try await group.next()
                } catch let error as HTTPTransportError {
                    // The group waits for its reader, which this wakes.
                    cancel()
                    throw error
                }
            }
        } catch is HTTPTransportError {
            // Given up.
        }
    }
}
