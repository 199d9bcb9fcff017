public import FoundationEssentials

/// A source of the time. The package reads the time only from such sources, so tests can replace it.
///
/// Use dates to determine whether something is still fresh. They may jump when the system clock is set. Use uptime to
/// measure durations. It never decreases. Members may be used from any thread and do not block, except that
/// ``sleep(for:)`` suspends.
public protocol TimeSource: Sendable {
    /// The current date.
    var now: Date { get }
    /// The time since an arbitrary fixed point. Never decreases.
    var uptime: Duration { get }
    /// Returns after `duration`.
    ///
    /// - Throws: `CancellationError` when the task is canceled first.
    func sleep(for duration: Duration) async throws
}

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
