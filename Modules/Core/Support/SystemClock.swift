public import FoundationEssentials

/// The machine's own clocks.
public struct SystemClock: TimeSource {
    private static let start = ContinuousClock.now

    /// All such clocks tell the same time.
    public init() {}

    public var now: Date { Date() }

    public var uptime: Duration { ContinuousClock.now - Self.start }

    public func sleep(for duration: Duration) async throws {
        try await Task.sleep(for: duration, clock: .continuous)
    }
}
