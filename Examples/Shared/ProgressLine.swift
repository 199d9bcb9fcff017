import Alcedo

/// One line on the terminal that says how far a run is, rewritten in place; silent when nobody watches.
actor ProgressLine {
    private var isVisible: Bool
    private let total: Int
    private var finished = 0
    private var transfers: [Int: DownloadProgress] = [:]
    private var rate = ByteRate()
    private var lastShown = ContinuousClock.now - .seconds(1)

    init(total: Int, isVisible: Bool) {
        self.total = total
        self.isVisible = isVisible
    }

    func received(_ progress: DownloadProgress, for index: Int) {
        let now = ContinuousClock.now
        // What the first report has came from an earlier run, or from no network at all.
        let before = transfers[index]?.received ?? progress.received
        rate.add(max(0, progress.received - before), at: now)
        transfers[index] = progress
        guard now - lastShown > .milliseconds(50) else { return }
        lastShown = now
        show()
    }

    func finishedOne() {
        finished += 1
        show()
    }

    /// Clears the line, so that what follows begins on a clean one.
    func end() {
        if isVisible { Console.progress(Console.clearing) }
        // A late report of bytes must not write over what follows.
        isVisible = false
    }

    private func show() {
        guard isVisible else { return }
        let filled = total == 0 ? 0 : finished * 24 / total
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 24 - filled)
        let perSecond = rate.bytesPerSecond(at: .now) / 1024
        Console.progress("\(Console.clearing)\(bar) \(finished)/\(total) images, \(bytes), \(perSecond) KiB/s")
    }

    /// What has arrived, and of how much where every source has said so.
    private var bytes: String {
        let received = transfers.values.reduce(0) { $0 + $1.received } / 1024
        let expected = transfers.values.reduce(into: Int?.some(0)) { sum, progress in
            guard let known = sum, let more = progress.expected else { return sum = nil }
            sum = known + more
        }
        return expected.map { "\(received) of \($0 / 1024) KiB" } ?? "\(received) KiB"
    }
}
