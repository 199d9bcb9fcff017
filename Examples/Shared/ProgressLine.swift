import Alcedo

/// One line on the terminal that says how far a run is, rewritten in place; silent when nobody watches.
actor ProgressLine {
    private var isVisible: Bool
    private let total: Int
    private let start = ContinuousClock.now
    private var finished = 0
    /// Of what is under way.
    private var transfers: [Int: DownloadProgress?] = [:]
    /// Of what has ended.
    private var (received, expected) = (0, Int?.some(0))
    private var rate = ByteRate()
    private var lastShown = ContinuousClock.now - .seconds(1)

    init(total: Int, isVisible: Bool) {
        self.total = total
        self.isVisible = isVisible
    }

    func begin(_ index: Int) { transfers[index] = .some(nil) }

    func received(_ progress: DownloadProgress, for index: Int) {
        // A late report of a transfer that has ended is counted already.
        guard let known = transfers[index] else { return }
        let now = ContinuousClock.now
        // What the first report has came from an earlier run, or from no network at all.
        rate.add(max(0, progress.received - (known ?? progress).received), at: now)
        transfers[index] = progress
        if now - lastShown > .milliseconds(50) { show(at: now) }
    }

    func finished(_ index: Int) {
        if let progress = transfers.removeValue(forKey: index) ?? nil {
            received += progress.received
            expected = Self.sum(expected, progress.expected)
        }
        finished += 1
        let now = ContinuousClock.now
        // A hundred thousand files are not as many writes to the terminal.
        if finished * 100 / total > (finished - 1) * 100 / total || now - lastShown > .milliseconds(50) {
            show(at: now)
        }
    }

    func end() {
        // So that what follows begins on a clean line.
        if isVisible { Console.progress(Console.clearing) }
        // A late report of bytes must not write over what follows.
        isVisible = false
    }

    private func show(at now: ContinuousClock.Instant) {
        lastShown = now
        guard isVisible else { return }
        let filled = total == 0 ? 0 : finished * 24 / total
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 24 - filled)
        let perSecond = rate.bytesPerSecond(at: now) / 1024
        let text = "\(bar) \(finished)/\(total) images\(remaining(at: now)), \(bytes), \(perSecond) KiB/s"
        // A line that wraps could not be cleared; what a narrow terminal has no room for comes last.
        let columns = TerminalCanvas(fileDescriptor: 2)?.columns ?? 0
        Console.progress(Console.clearing + (columns > 1 ? String(text.prefix(columns - 1)) : text))
    }

    /// Images a second, and the time that the others take at this pace.
    private func remaining(at now: ContinuousClock.Instant) -> String {
        guard finished > 0, finished < total else { return "" }
        let seconds = max((now - start) / .seconds(1), 0.001)
        let tenths = Int(Double(finished) / seconds * 10)
        let left = Int(seconds / Double(finished) * Double(total - finished)) + 1
        let (minutes, rest) = (left / 60, left % 60)
        let time =
            minutes < 60
            ? "\(minutes):\(rest < 10 ? "0" : "")\(rest)" : "\(minutes / 60) h \(minutes % 60) min"
        return ", \(tenths / 10).\(tenths % 10) images/s, \(time) left"
    }

    /// What has arrived, and of how much where every source has said so.
    private var bytes: String {
        let current = transfers.values.compactMap { $0 }
        let received = current.reduce(received) { $0 + $1.received } / 1024
        let expected = current.reduce(expected) { Self.sum($0, $1.expected) }
        return expected.map { "\(received) of \($0 / 1024) KiB" } ?? "\(received) KiB"
    }

    private static func sum(_ one: Int?, _ other: Int?) -> Int? {
        guard let one, let other else { return nil }
        return one + other
    }
}
