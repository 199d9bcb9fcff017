import AlcedoCore

/// Passes progress on: the first and the last step, and of those between only so many a second.
struct ProgressMeter: Sendable {
    private let interval: Duration
    private let time: any TimeSource
    private let report: @Sendable (DownloadProgress) -> Void
    private var last: DownloadProgress?
    private var lastTime = Duration.zero

    init(interval: Duration, time: any TimeSource, report: @escaping @Sendable (DownloadProgress) -> Void) {
        self.interval = interval
        self.time = time
        self.report = report
    }

    /// For the steps of which many come.
    mutating func update(_ progress: DownloadProgress) {
        let now = time.uptime
        guard now - lastTime >= interval else { return }
        pass(progress, at: now)
    }

    /// For the first step and the last.
    mutating func mark(_ progress: DownloadProgress) {
        guard progress != last else { return }
        pass(progress, at: time.uptime)
    }

    private mutating func pass(_ progress: DownloadProgress, at now: Duration) {
        (last, lastTime) = (progress, now)
        report(progress)
    }
}
