public import FoundationEssentials

/// A source of the time. Caches, the pipeline and the downloader read the time from the source that is their parameter
/// `clock`, so that tests can control it. Code that waits for sockets reads the system's monotonic clock, by which the
/// kernel waits.
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
