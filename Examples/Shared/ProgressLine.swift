import Alcedo

/// One line on the terminal that says how far a run is, rewritten in place; silent when nobody watches.
actor ProgressLine {
    private struct Transfer {
        let progress: TransferProgress
        /// What the rate knows of; nil before it has heard of the transfer.
        var counted: Int?

        /// How many bytes have come since this was asked last. A transfer that begins anew counts from nought again.
        mutating func takeNew() -> Int {
            guard let first = progress.first, let last = progress.last else { return 0 }
            // What the first report has is of an earlier run.
            let before = counted ?? first.received
            counted = last.received
            return max(0, last.received - before)
        }
    }

    /// Between two states that are shown.
    private static let pause = Duration.milliseconds(50)

    private var isVisible: Bool
    private let total: Int
    private let time: any TimeSource
    private let columns: @Sendable () -> Int?
    private let write: @Sendable (String) -> Void
    private let start: Duration
    private var finished = 0
    /// Of what is under way.
    private var transfers: [Int: Transfer] = [:]
    /// Of what has ended.
    private var (received, expected) = (0, Int?.some(0))
    private var rate: ByteRate
    private var lastShown: Duration
    private var isToBeShown = false

    /// - Parameters:
    ///   - columns: The width of the terminal; nil: nobody knows.
    ///   - write: Writes text to the terminal as it is.
    init(
        total: Int, isVisible: Bool, time: any TimeSource = SystemClock(),
        columns: @escaping @Sendable () -> Int? = { TerminalCanvas(fileDescriptor: 2)?.columns },
        write: @escaping @Sendable (String) -> Void = { Console.progress($0) }
    ) {
        (self.total, self.isVisible, self.time, self.columns, self.write) = (total, isVisible, time, columns, write)
        start = time.uptime
        rate = ByteRate(start: start)
        lastShown = start - .seconds(1)
    }

    /// - Parameter progress: Is looked at from now on.
    func begin(_ index: Int, _ progress: TransferProgress) { transfers[index] = Transfer(progress: progress) }

    /// To be called when something has arrived.
    func received(for index: Int) {
        // A late report of a transfer that has ended is counted already.
        guard let count = transfers[index]?.takeNew() else { return }
        let now = time.uptime
        rate.add(count, at: now)
        if now - lastShown > Self.pause { show(at: now) } else { showLater() }
    }

    /// - Parameter isWhole: Whether the image has been loaded, and so all of its bytes.
    func finished(_ index: Int, isWhole: Bool) {
        let now = time.uptime
        if var transfer = transfers.removeValue(forKey: index), let progress = transfer.progress.last {
            rate.add(transfer.takeNew(), at: now)
            received = Self.sum(received, max(progress.received, isWhole ? progress.expected ?? 0 : 0)) ?? received
            expected = Self.sum(expected, progress.expected)
        }
        finished += 1
        // A hundred thousand files are not as many writes to the terminal.
        if finished * 100 / total > (finished - 1) * 100 / total || now - lastShown > Self.pause {
            show(at: now)
        }
    }

    func end() {
        // So that what follows begins on a clean line.
        if isVisible { write(Console.clearing) }
        // A late report of bytes must not write over what follows.
        isVisible = false
    }

    /// Nothing may come any more for long, and what has come would not be shown.
    private func showLater() {
        guard isVisible, !isToBeShown else { return }
        isToBeShown = true
        Task {
            try? await time.sleep(for: Self.pause)
            isToBeShown = false
            show(at: time.uptime)
        }
    }

    private func show(at now: Duration) {
        lastShown = now
        guard isVisible else { return }
        let current = transfers.values.compactMap(\.progress.last)
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
        let columns = columns() ?? 0
        write(Console.clearing + text.text(in: columns > 1 ? columns - 1 : .max))
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

    /// What has arrived, and of how much when every source has said so.
    private func bytes(_ current: [DownloadProgress]) -> String {
        let received = current.reduce(received) { Self.sum($0, $1.received) ?? $0 } / 1024
        let isAll = finished + current.count == total
        let expected = isAll ? current.reduce(expected) { Self.sum($0, $1.expected) } : nil
        return expected.map { "\(received) of \($0 / 1024) KiB" } ?? "\(received) KiB"
    }

    /// nil where one is not known, or where servers have announced more than anybody could count.
    private static func sum(_ one: Int?, _ other: Int?) -> Int? {
        guard let one, let other else { return nil }
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? nil : sum
    }
}
