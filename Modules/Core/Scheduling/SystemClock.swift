public import FoundationEssentials

/// The system's clocks.
public struct SystemClock: TimeSource {
    private static let start = ContinuousClock.now

    /// Creates a clock. All instances return the same times.
    public init() {}

    /// The current date of the system clock.
    public var now: Date { Date() }

    /// The time since the first use of the uptime in this process.
    public var uptime: Duration { ContinuousClock.now - Self.start }

    /// Returns after `duration`, measured by the continuous clock. Throws `CancellationError` when the task is
    /// canceled first.
    public func sleep(for duration: Duration) async throws {
        try await Task.sleep(for: duration, clock: .continuous)
    }
}
