public import FoundationEssentials

/// Tells the time and waits, so that nothing in the package reads a clock of its own.
///
/// Dates answer "is this still fresh?" and may jump when the system's clock is set; uptime answers "how long did this
/// take?" and never goes back. Calls may come from any thread and do not block.
public protocol TimeSource: Sendable {
    /// The wall-clock date.
    var now: Date { get }
    /// Time since an arbitrary fixed point; never decreases.
    var uptime: Duration { get }
    /// Returns after `duration`.
    /// - Throws: `CancellationError` when the task is cancelled first.
    func sleep(for duration: Duration) async throws
}

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
