import Alcedo
import AlcedoTerminal
import AlcedoRuntime

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
    private let clock: any TimeSource
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
    private var isShowScheduled = false

    /// - Parameters:
    ///   - columns: The width of the terminal; nil: nobody knows.
    ///   - write: Writes text to the terminal as it is.
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

    /// - Parameter progress: Is looked at from now on.
    func begin(_ index: Int, _ progress: TransferProgress) { transfers[index] = Transfer(progress: progress) }

    /// To be called when something has arrived.
    func received(for index: Int) {
        // A late report of a transfer that has ended is counted already.
        guard let count = transfers[index]?.takeNew() else { return }
        let now = clock.uptime
        rate.add(count, at: now)
        if now - lastShown > Self.pause { show(at: now) } else { scheduleShow() }
    }

    /// - Parameter isWhole: Whether the image has been loaded, and so all of its bytes.
    func finished(_ index: Int, isComplete: Bool) {
        let now = clock.uptime
        if var transfer = transfers.removeValue(forKey: index), let progress = transfer.progress.last {
            rate.add(transfer.takeNew(), at: now)
            received = Self.sum(received, max(progress.received, isComplete ? progress.expected ?? 0 : 0)) ?? received
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

/// What a progress line says, as far as there is room for it.
private struct ProgressText {
    /// In columns.
    private static let (longestBar, shortestBar) = (24, 8)

    var finished: Int
    var total: Int
    /// Images that have ended, and the parts of those under way.
    var done: Double
    var imagesPerSecond: Double?
    var secondsLeft: Double?
    /// What has arrived, and of how much.
    var bytes: String
    var bytesPerSecond: Int

    /// Leaves out whole words, those that say least first.
    ///
    /// - Parameter columns: The maximum width.
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
        // A line that wraps could not be cleared.
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
            // A server may announce any number of bytes.
            let left = Int(min(seconds, 1e9)) + 1
            let (minutes, rest) = (left / 60, left % 60)
            return minutes < 60
                ? "\(minutes):\(rest < 10 ? "0" : "")\(rest) left" : "\(minutes / 60) h \(minutes % 60) min left"
        }
    }

    /// Full when all have ended, and not before.
    private func bar(_ width: Int) -> String {
        let filled = finished >= total ? width : min(width - 1, Int(done / Double(total) * Double(width)))
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    }
}

/// How fast bytes have come of late: a mean over a few seconds, so that it neither jumps nor remembers for ever.
struct ByteRate {
    private static let span = Duration.seconds(3)

    /// What comes within this time is one step, so that there are few of them however many files are read.
    private static let stepLength = Duration.milliseconds(50)

    private var steps: [(time: Duration, count: Int)] = []
    private let start: Duration

    /// - Parameter start: The uptime now, as all times here.
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
        // In the first moments there is no mean to speak of.
        return Int(Double(recent) / (max(min(Self.span, now - start), .milliseconds(250)) / .seconds(1)))
    }
}

/// How far one image's bytes have come.
final class TransferProgress: Sendable {
    private struct Reports {
        var first: DownloadProgress
        var last: DownloadProgress
    }

    private let reports = Locked<Reports?>(nil)

    /// As first told, before a byte of this run: what it has came from an earlier one. nil: nobody has said anything.
    var first: DownloadProgress? { reports.withLock { $0?.first } }

    /// As last told; nil: nobody has said anything.
    var last: DownloadProgress? { reports.withLock { $0?.last } }

    func report(_ progress: DownloadProgress) {
        reports.withLock { $0 = Reports(first: $0?.first ?? progress, last: progress) }
    }
}
