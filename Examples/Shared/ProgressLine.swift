import Alcedo

/// One line on the terminal that says how far a run is, rewritten in place; silent when nobody watches.
actor ProgressLine {
    private struct Transfer {
        let progress: TransferProgress
        /// What the rate knows of.
        var counted: Int?
    }

    /// Between two states that are shown.
    private static let pause = Duration.milliseconds(50)

    private var isVisible: Bool
    private let total: Int
    private let start = ContinuousClock.now
    private var finished = 0
    /// Of what is under way.
    private var transfers: [Int: Transfer] = [:]
    /// Of what has ended.
    private var (received, expected) = (0, Int?.some(0))
    private var rate = ByteRate()
    private var lastShown = ContinuousClock.now - .seconds(1)
    private var isToBeShown = false

    init(total: Int, isVisible: Bool) {
        self.total = total
        self.isVisible = isVisible
    }

    /// - Parameter progress: Is looked at from now on.
    func begin(_ index: Int, _ progress: TransferProgress) { transfers[index] = Transfer(progress: progress) }

    /// To be called when something has arrived.
    func received(for index: Int) {
        // A late report of a transfer that has ended is counted already.
        guard let transfer = transfers[index], let now = transfer.progress.value?.received else { return }
        let time = ContinuousClock.now
        // What the first report has came from an earlier run, or from no network at all.
        rate.add(max(0, now - (transfer.counted ?? now)), at: time)
        transfers[index]?.counted = now
        if time - lastShown > Self.pause { show(at: time) } else { showLater() }
    }

    /// - Parameter isWhole: Whether the image has been loaded, and so all of its bytes.
    func finished(_ index: Int, isWhole: Bool) {
        if let progress = transfers.removeValue(forKey: index)?.progress.value {
            received = Self.sum(received, max(progress.received, isWhole ? progress.expected ?? 0 : 0)) ?? received
            expected = Self.sum(expected, progress.expected)
        }
        finished += 1
        let now = ContinuousClock.now
        // A hundred thousand files are not as many writes to the terminal.
        if finished * 100 / total > (finished - 1) * 100 / total || now - lastShown > Self.pause {
            show(at: now)
        }
    }

    func end() {
        // So that what follows begins on a clean line.
        if isVisible { Console.progress(Console.clearing) }
        // A late report of bytes must not write over what follows.
        isVisible = false
    }

    /// Nothing may come any more for long, and what has come would not be shown.
    private func showLater() {
        guard isVisible, !isToBeShown else { return }
        isToBeShown = true
        Task {
            try? await Task.sleep(for: Self.pause)
            isToBeShown = false
            show(at: .now)
        }
    }

    private func show(at now: ContinuousClock.Instant) {
        lastShown = now
        guard isVisible else { return }
        let current = transfers.values.compactMap(\.progress.value)
        let done = Double(finished) + current.reduce(0) { $0 + Self.part($1) }
        let seconds = max((now - start) / .seconds(1), 0.001)
        let isUnderWay = finished > 0 && finished < total
        let bytesPerSecond = rate.bytesPerSecond(at: now)
        let text = ProgressText(
            finished: finished, total: total, done: done,
            imagesPerSecond: isUnderWay ? Double(finished) / seconds : nil,
            secondsLeft: isUnderWay
                ? seconds / done * (Double(total) - done) : secondsLeft(for: current, at: bytesPerSecond),
            bytes: bytes(current), bytesPerSecond: bytesPerSecond)
        // The last column stays free: a cursor behind it would be on the next line.
        let columns = TerminalCanvas(fileDescriptor: 2)?.columns ?? 0
        Console.progress(Console.clearing + text.text(in: columns > 1 ? columns - 1 : .max))
    }

    /// While no image has ended, what is known of the bytes of some must do for all.
    private func secondsLeft(for current: [DownloadProgress], at bytesPerSecond: Int) -> Double? {
        let known = current.filter { $0.expected != nil }
        guard finished == 0, bytesPerSecond > 0, !known.isEmpty else { return nil }
        let expected = known.reduce(0) { $0 + Double($1.expected ?? 0) }
        let received = known.reduce(0) { $0 + Double($1.received) }
        let others = Double(total - known.count) * expected / Double(known.count)
        return max(0, expected + others - received) / Double(bytesPerSecond)
    }

    /// How much of an image has come, from 0 to 1.
    private static func part(_ progress: DownloadProgress) -> Double {
        guard let expected = progress.expected, expected > 0 else { return 0 }
        return min(1, Double(progress.received) / Double(expected))
    }

    /// What has arrived, and of how much where every source has said so.
    private func bytes(_ current: [DownloadProgress]) -> String {
        let received = current.reduce(received) { Self.sum($0, $1.received) ?? $0 } / 1024
        let expected = current.reduce(expected) { Self.sum($0, $1.expected) }
        return expected.map { "\(received) of \($0 / 1024) KiB" } ?? "\(received) KiB"
    }

    /// nil where one is not known, or where servers have announced more than anybody could count.
    private static func sum(_ one: Int?, _ other: Int?) -> Int? {
        guard let one, let other else { return nil }
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? nil : sum
    }
}
