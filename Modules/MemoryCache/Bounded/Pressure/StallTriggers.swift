import AlcedoCore
import AlcedoLibc

/// Descriptors on which the kernel tells that tasks were stalled for want of memory, closed when the value goes.
///
/// Each becomes readable with priority (POLLPRI) at most once a window. Source: accounting/psi.rst, "Monitoring for
/// pressure thresholds".
struct StallTriggers: ~Copyable {
    /// A multiple of two seconds, or only the privileged may ask for it.
    static let window = Duration.seconds(2)

    /// The trigger for a warning, or -1.
    let warning: Int32
    /// The trigger for the critical level, or -1.
    let critical: Int32
    /// Reads what the kernel has counted; nil when it does not tell.
    let readCount: @Sendable () -> StallCount?

    /// Takes charge of two descriptors, -1 for one there is not.
    init(
        warning: Int32 = -1, critical: Int32 = -1, readCount: @escaping @Sendable () -> StallCount? = { nil }
    ) {
        (self.warning, self.critical, self.readCount) = (warning, critical, readCount)
    }

    /// Asks for both, and is content with one. Whatever the kernel refuses is quietly done without.
    ///
    /// - Parameter path: A pressure file: of the machine, or of a control group.
    init(arming path: String) {
        let microseconds = Int(Self.window / .microseconds(1))
        self.init(
            warning: Self.arm(path, "some \(StallCount.warningThreshold) \(microseconds)"),
            critical: Self.arm(path, "full \(StallCount.criticalThreshold) \(microseconds)")
        ) {
            SystemFiles().contents(path).flatMap { StallCount($0) }
        }
    }

    deinit {
        if warning >= 0 { close(warning) }
        if critical >= 0 { close(critical) }
    }

    var isArmed: Bool { warning >= 0 || critical >= 0 }

    private static func arm(_ path: String, _ trigger: String) -> Int32 {
        let file = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else { return -1 }
        // In one write, with the null at the end: the kernel takes the last byte for it.
        guard trigger.withCString({ write(file, $0, trigger.utf8.count + 1) }) > 0 else {
            close(file)
            return -1
        }
        return file
    }
}

/// How long tasks have been stalled for want of memory so far, in microseconds. Only rises.
///
/// Source: accounting/psi.rst, "Pressure interface".
struct StallCount: Sendable, Equatable {
    /// Some tasks were stalled for so long of a trigger's window: a warning.
    static let warningThreshold = 100_000
    /// All tasks were stalled at once for so long of it: critical.
    static let criticalThreshold = 150_000

    /// Some of them.
    let some: Int
    /// All of them at once.
    let full: Int

    init(some: Int, full: Int) { (self.some, self.full) = (some, full) }

    /// Finds the figures `total` in the text of a pressure file. nil when one is missing.
    init?(_ text: [UInt8]) {
        guard let some = KernelText.number(of: "total", after: "some", in: text),
            let full = KernelText.number(of: "total", after: "full", in: text)
        else { return nil }
        self.init(some: some, full: full)
    }

    /// Whether enough has been added to an earlier count for the trigger of a level to fire.
    func shows(_ level: MemoryPressure, since earlier: Self) -> Bool {
        switch level {
        case .normal: true
        case .warning: some - earlier.some >= Self.warningThreshold
        case .critical: full - earlier.full >= Self.criticalThreshold
        }
    }
}

/// What the kernel has counted lately, against which a trigger that fires is held.
///
/// Kernels fire triggers where hardly anything was stalled, and count rightly all the same: Linux 6.18 fired "some" and
/// "full" at once where the counts had risen by 148 microseconds. A trigger may also be ahead of the counts that can
/// be read, which are renewed every two seconds only; so what they do not show at once is looked for once more.
struct StallHistory: Sendable {
    /// A trigger reckons with its window, and with a part of the one before.
    private static let span = StallTriggers.window * 2
    private static let minimumInterval = StallTriggers.window / 2
    /// The counts have been renewed by then.
    private static let confirmationDelay = StallTriggers.window + .milliseconds(100)

    /// A level that was announced and is not shown yet.
    private struct UnconfirmedStall {
        let end: Duration
        let before: StallCount
    }

    private var samples: [(time: Duration, count: StallCount)] = []
    private var unconfirmedStalls: [MemoryPressure: UnconfirmedStall] = [:]

    /// When to look again because of a doubt; nil when there is none.
    var nextSample: Duration? { unconfirmedStalls.values.map(\.end).min() }

    /// Remembers a look. What is older than a trigger can see goes, and looks that come close together count as one.
    mutating func record(_ count: StallCount?, at now: Duration) {
        guard let count else { return }
        if let last = samples.last, now - last.time < Self.minimumInterval { return }
        samples.append((now, count))
        if let first = samples.lastIndex(where: { now - $0.time >= Self.span }) { samples.removeFirst(first) }
    }

    /// A trigger has fired. Nothing is held against it where nothing is known.
    ///
    /// - Parameters:
    ///   - level: That of the trigger.
    ///   - count: What has been counted up to now.
    ///   - now: When it fired.
    /// - Returns: Whether the level is to be believed. If not, ``resolve(_:at:)`` tells later.
    mutating func confirms(_ level: MemoryPressure, _ count: StallCount?, at now: Duration) -> Bool {
        guard let count, let before = samples.last(where: { now - $0.time >= Self.span }) ?? samples.first,
            !count.shows(level, since: before.count)
        else {
            unconfirmedStalls[level] = nil
            return true
        }
        // An older doubt has seen more, and has its end all the same where a trigger fires again and again.
        if unconfirmedStalls[level] == nil {
            unconfirmedStalls[level] = UnconfirmedStall(end: now + Self.confirmationDelay, before: before.count)
        }
        return false
    }

    /// Ends the doubts that have waited long enough.
    ///
    /// - Returns: The levels that are to be believed after all.
    mutating func resolve(_ count: StallCount?, at now: Duration) -> [MemoryPressure] {
        let due = unconfirmedStalls.filter { $0.value.end <= now }
        for level in due.keys { unconfirmedStalls[level] = nil }
        return due.filter { count?.shows($0.key, since: $0.value.before) ?? true }.map(\.key)
    }
}
