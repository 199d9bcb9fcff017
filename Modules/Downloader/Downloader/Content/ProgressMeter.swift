import AlcedoCore

/// Passes progress on: the first and the last step, and of those between only so many a second.
struct ProgressMeter: Sendable {
    private let interval: Duration
    private let clock: any TimeSource
    private let report: @Sendable (DownloadProgress) -> Void
    private var last: DownloadProgress?
    private var lastTime = Duration.zero

    init(interval: Duration, clock: any TimeSource, report: @escaping @Sendable (DownloadProgress) -> Void) {
        self.interval = interval
        self.clock = clock
        self.report = report
    }

    /// For the steps of which many come.
    mutating func update(_ progress: DownloadProgress) {
        let now = clock.uptime
        guard now - lastTime >= interval else { return }
        pass(progress, at: now)
    }

    /// For the first step and the last.
    mutating func mark(_ progress: DownloadProgress) {
        guard progress != last else { return }
        pass(progress, at: clock.uptime)
    }

    private mutating func pass(_ progress: DownloadProgress, at now: Duration) {
        (last, lastTime) = (progress, now)
        report(progress)
    }
}
