import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime
import AlcedoTerminal

/// The progress of a run as one line of the terminal, rewritten in place. Prints nothing if it is not visible.
actor ProgressLine {
    private struct Transfer {
        let progress: TransferProgress
        /// The number of bytes received at the last call of ``takeNew()``, or nil before the first report.
        var counted: Int?

        /// Returns the number of bytes received since the last call, or zero when the transfer has restarted. The bytes
        /// of the first report are not counted.
        mutating func takeNew() -> Int {
            guard let first = progress.first, let last = progress.last else { return 0 }
            // The bytes of the first report were received earlier, for example by a previous run.
            let before = counted ?? first.received
            counted = last.received
            return max(0, last.received - before)
        }
    }

    /// The minimum time between two updates of the line.
    private static let pause = Duration.milliseconds(50)

    private var isVisible: Bool
    private let total: Int
    private let clock: any TimeSource
    private let columns: @Sendable () -> Int?
    private let write: @Sendable (String) -> Void
    private let start: Duration
    private var finished = 0
    /// The transfers in progress, by the index of their image.
    private var transfers: [Int: Transfer] = [:]
    /// The bytes of finished transfers, including failed ones: the received number, and the expected number, or nil if
    /// a transfer announced no size or the sum overflows.
    private var (received, expected) = (0, Int?.some(0))
    private var rate: ByteRate
    private var lastShown: Duration
    private var isShowScheduled = false

    /// Creates a progress line.
    ///
    /// - Parameters:
    ///   - total: The number of images.
    ///   - isVisible: Whether the line is shown.
    ///   - clock: The source of time.
    ///   - columns: Returns the width of the terminal, or nil if it is unknown.
    ///   - write: Writes text to the terminal unchanged.
    init(
        total: Int, isVisible: Bool, clock: any TimeSource = SystemClock(),
        columns: @escaping @Sendable () -> Int? = { TerminalCanvas(fileDescriptor: 2)?.columns },
        write: @escaping @Sendable (String) -> Void = { Console.progress($0) }
    ) {
        (self.total, self.isVisible, self.clock, self.columns, self.write) = (total, isVisible, clock, columns, write)
        start = clock.uptime
        rate = ByteRate(start: start)
        lastShown = start - .seconds(1)
    }

    /// Adds a transfer.
    ///
    /// - Parameters:
    ///   - index: The index of the image.
    ///   - progress: The transfer's progress, which the line reads from now on.
    func begin(_ index: Int, _ progress: TransferProgress) { transfers[index] = Transfer(progress: progress) }

    /// Updates the rate and the line. Call it after a transfer reported progress.
    func received(for index: Int) {
        // A transfer that has ended is already counted; its late reports are ignored.
        guard let count = transfers[index]?.takeNew() else { return }
        let now = clock.uptime
        rate.add(count, at: now)
        if now - lastShown > Self.pause { show(at: now) } else { scheduleShow() }
    }

    /// Records the end of a transfer.
    ///
    /// - Parameters:
    ///   - index: The index of the image.
    ///   - isComplete: Whether the image was loaded. If so, all of its expected bytes count as received.
    func finished(_ index: Int, isComplete: Bool) {
        let now = clock.uptime
        if var transfer = transfers.removeValue(forKey: index), let progress = transfer.progress.last {
            rate.add(transfer.takeNew(), at: now)
            received = Self.sum(received, max(progress.received, isComplete ? progress.expected ?? 0 : 0)) ?? received
            expected = Self.sum(expected, progress.expected)
        }
        finished += 1
        // The line is updated when the percentage changes or 50 ms have passed, which limits the writes for long lists.
        if finished * 100 / total > (finished - 1) * 100 / total || now - lastShown > Self.pause {
            show(at: now)
        }
    }

    func end() {
        // Later output begins on an empty line.
        if isVisible { write(Console.clearing) }
        // A late progress report must not overwrite later output.
        isVisible = false
    }

    /// Schedules an update. Without it, the last bytes before a long pause would not be shown.
    private func scheduleShow() {
        guard isVisible, !isShowScheduled else { return }
        isShowScheduled = true
        Task {
            try? await clock.sleep(for: Self.pause)
            isShowScheduled = false
            show(at: clock.uptime)
        }
    }

    private func show(at now: Duration) {
        lastShown = now
        guard isVisible else { return }
        let current = transfers.values.compactMap(\.progress.last)
        let done = Double(finished) + current.reduce(0) { $0 + Self.part($1) }
        let seconds = max((now - start) / .seconds(1), 0.001)
        let isInProgress = finished > 0 && finished < total
        let bytesPerSecond = rate.bytesPerSecond(at: now)
        let text = ProgressText(
            finished: finished, total: total, done: done,
            imagesPerSecond: isInProgress ? Double(finished) / seconds : nil,
            secondsLeft: isInProgress
                ? seconds / done * (Double(total) - done) : secondsLeft(for: current, at: bytesPerSecond),
            bytes: bytes(current), bytesPerSecond: bytesPerSecond)
        // The last column stays empty, because the cursor would wrap to the next line.
        let columns = columns() ?? 0
        write(Console.clearing + text.text(in: columns > 1 ? columns - 1 : .max))
    }

    /// Returns the estimated time until the end, in seconds, from the expected bytes of the transfers that have
    /// announced a size. Returns nil after the first image is finished, even if it failed, at a rate of zero, or if no
    /// transfer has announced a size.
    private func secondsLeft(for current: [DownloadProgress], at bytesPerSecond: Int) -> Double? {
        let known = current.filter { $0.expected != nil }
        guard finished == 0, bytesPerSecond > 0, !known.isEmpty else { return nil }
        let expected = known.reduce(0) { $0 + Double($1.expected ?? 0) }
        let received = known.reduce(0) { $0 + Double($1.received) }
        let others = Double(total - known.count) * expected / Double(known.count)
        return max(0, expected + others - received) / Double(bytesPerSecond)
    }

    /// Returns the received part of an image, from 0 to 1. Returns 0 if the expected size is unknown.
    private static func part(_ progress: DownloadProgress) -> Double {
        guard let expected = progress.expected, expected > 0 else { return 0 }
        return min(1, Double(progress.received) / Double(expected))
    }

    /// Returns the number of received KiB as text, with the expected number if all transfers have begun and announced
    /// it.
    private func bytes(_ current: [DownloadProgress]) -> String {
        let received = current.reduce(received) { Self.sum($0, $1.received) ?? $0 } / 1024
        let isAll = finished + current.count == total
        let expected = isAll ? current.reduce(expected) { Self.sum($0, $1.expected) } : nil
        return expected.map { "\(received) of \($0 / 1024) KiB" } ?? "\(received) KiB"
    }

    /// Returns the sum, or nil if an operand is nil or the sum overflows. A server may announce any size.
    private static func sum(_ one: Int?, _ other: Int?) -> Int? {
        guard let one, let other else { return nil }
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? nil : sum
    }
}

/// The text of a progress line, shortened to the width of the terminal.
private struct ProgressText {
    /// The limits of the bar's width, in columns.
    private static let (longestBar, shortestBar) = (24, 8)

    var finished: Int
    var total: Int
    /// The number of finished images, including failed ones, plus the received parts of those in progress.
    var done: Double
    var imagesPerSecond: Double?
    var secondsLeft: Double?
    /// The received and the expected bytes, as text.
    var bytes: String
    var bytesPerSecond: Int

    /// Returns the text. Omits the bar and whole items, the least important first, until the text fits. Returns an
    /// empty text if the number of images alone does not fit.
    func text(in columns: Int) -> String {
        var words = [(text: count, weight: 5)]
        if let rate { words.append((rate, 3)) }
        if let time { words.append((time, 4)) }
        words += [(bytes, 1), ("\(bytesPerSecond / 1024) KiB/s", 2)]
        func width() -> Int { words.reduce(2 * (words.count - 1)) { $0 + $1.text.count } }
        while words.count > 1, width() + 1 + Self.shortestBar > columns {
            let least = words.map(\.weight).min()
            words.removeAll { $0.weight == least }
        }
        let barWidth = min(Self.longestBar, columns - width() - 1)
        let bar = barWidth < Self.shortestBar ? "" : bar(barWidth) + " "
        let text = bar + words.map(\.text).joined(separator: ", ")
        // A wrapped line could not be cleared, so a text that does not fit is omitted.
        return text.count <= columns ? text : ""
    }

    private var count: String { "\(finished)/\(total) images" }

    private var rate: String? {
        imagesPerSecond.map { rate in
            let tenths = Int(min(rate, 1e9) * 10)
            return "\(tenths / 10).\(tenths % 10) images/s"
        }
    }

    private var time: String? {
        secondsLeft.map { seconds in
            // The estimate is clamped, because a server may announce any number of bytes.
            let left = Int(min(seconds, 1e9)) + 1
            let (minutes, rest) = (left / 60, left % 60)
            return minutes < 60
                ? "\(minutes):\(rest < 10 ? "0" : "")\(rest) left" : "\(minutes / 60) h \(minutes % 60) min left"
        }
    }

    /// Returns the bar. It is full only when all images are finished, including failed ones.
    private func bar(_ width: Int) -> String {
        let filled = finished >= total ? width : min(width - 1, Int(done / Double(total) * Double(width)))
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    }
}

/// The rate of received bytes, averaged over the last 3 seconds.
struct ByteRate {
    private static let span = Duration.seconds(3)

    /// The duration of a step. Bytes that arrive within it form one step, which bounds the number of steps.
    private static let stepLength = Duration.milliseconds(50)

    private var steps: [(time: Duration, count: Int)] = []
    private let start: Duration

    /// Creates a rate.
    ///
    /// - Parameter start: The current uptime. All times are uptimes of the same clock.
    init(start: Duration) { self.start = start }

    mutating func add(_ count: Int, at now: Duration) {
        if let last = steps.last, now - last.time < Self.stepLength {
            steps[steps.count - 1].count += count
        } else {
            steps.removeAll { now - $0.time > Self.span }
            steps.append((now, count))
        }
    }

    func bytesPerSecond(at now: Duration) -> Int {
        let recent = steps.filter { now - $0.time <= Self.span }.reduce(0) { $0 + $1.count }
        // A minimum of 250 ms keeps the first averages from jumping.
        return Int(Double(recent) / (max(min(Self.span, now - start), .milliseconds(250)) / .seconds(1)))
    }
}

/// The progress of one image's transfer.
final class TransferProgress: Sendable {
    private struct Reports {
        var first: DownloadProgress
        var last: DownloadProgress
    }

    private let reports = Locked<Reports?>(nil)

    /// The first report, or nil before any report. Its bytes were received earlier, for example by a previous run.
    var first: DownloadProgress? { reports.withLock { $0?.first } }

    /// The last report, or nil before any report.
    var last: DownloadProgress? { reports.withLock { $0?.last } }

    func report(_ progress: DownloadProgress) {
        reports.withLock { $0 = Reports(first: $0?.first ?? progress, last: progress) }
    }
}
