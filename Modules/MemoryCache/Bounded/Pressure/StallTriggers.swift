import AlcedoCore
import AlcedoLibc

/// The descriptors on which the kernel announces that tasks were stalled because memory was short. They are closed when
/// the value is destroyed.
///
/// Each descriptor becomes readable with priority (POLLPRI) at most once per window. Source: accounting/psi.rst,
/// "Monitoring for pressure thresholds".
struct StallTriggers: ~Copyable {
    /// The window of a trigger. Unprivileged processes may only use multiples of two seconds.
    static let window = Duration.seconds(2)

    /// The descriptor of the trigger for a warning, or -1.
    let warning: Int32
    /// The descriptor of the trigger for the critical level, or -1.
    let critical: Int32
    /// A function that reads the kernel's count of stall times. It returns nil if the kernel does not provide the
    /// count.
    let readCount: @Sendable () -> StallCount?

    /// Takes ownership of two descriptors; -1 for a missing one.
    init(
        warning: Int32 = -1, critical: Int32 = -1, readCount: @escaping @Sendable () -> StallCount? = { nil }
    ) {
        (self.warning, self.critical, self.readCount) = (warning, critical, readCount)
    }

    /// Arms both triggers. If the kernel refuses one, its descriptor is -1.
    ///
    /// - Parameter path: The path of a pressure file of the machine or of a control group.
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
        // The trigger and its null terminator are written in one call, because the kernel overwrites the last byte
        // with a terminator.
        guard trigger.withCString({ write(file, $0, trigger.utf8.count + 1) }) > 0 else {
            close(file)
            return -1
        }
        return file
    }
}

/// The total time for which tasks have been stalled because memory was short, in microseconds. It only rises.
///
/// Source: accounting/psi.rst, "Pressure interface".
struct StallCount: Sendable, Equatable {
    /// The minimum stall time within a trigger's window that causes a warning, in microseconds. The stall time is the
    /// time for which some tasks are stalled.
    static let warningThreshold = 100_000
    /// The minimum stall time within a trigger's window that causes the critical level, in microseconds. The stall time
    /// is the time for which all tasks are stalled at once.
    static let criticalThreshold = 150_000

    /// The time for which some tasks were stalled.
    let some: Int
    /// The time for which all tasks were stalled at once.
    let full: Int

    init(some: Int, full: Int) { (self.some, self.full) = (some, full) }

    /// Parses the figures `total` in the text of a pressure file. Returns nil if one is missing.
    init?(_ text: [UInt8]) {
        guard let some = KernelText.number(of: "total", after: "some", in: text),
            let full = KernelText.number(of: "total", after: "full", in: text)
        else { return nil }
        self.init(some: some, full: full)
    }

    /// Returns whether the increase since an earlier count suffices for the trigger of a level to fire.
    func shows(_ level: MemoryPressure, since earlier: Self) -> Bool {
        switch level {
        case .normal: true
        case .warning: some - earlier.some >= Self.warningThreshold
        case .critical: full - earlier.full >= Self.criticalThreshold
        }
    }
}

/// The recent stall counts, which confirm or refute the triggers that fire.
///
/// Some kernels fire triggers although tasks were hardly stalled. The counts of these kernels are correct. Linux 6.18
/// fired "some" and "full" at once when the counts had risen by 148 microseconds. A trigger may also precede the
/// readable counts, which are updated only every two seconds. A trigger that the counts do not confirm at once is
/// therefore checked a second time.
struct StallHistory: Sendable {
    /// The minimum age of the sample with which the current count is compared. A trigger covers its window and a part
    /// of the previous one.
    private static let span = StallTriggers.window * 2
    private static let minimumInterval = StallTriggers.window / 2
    /// The delay of the second check, by which time the counts have been updated.
    private static let confirmationDelay = StallTriggers.window + .milliseconds(100)

    /// An announced level that the counts do not confirm yet.
    private struct UnconfirmedStall {
        let end: Duration
        let before: StallCount
    }

    private var samples: [(time: Duration, count: StallCount)] = []
    private var unconfirmedStalls: [MemoryPressure: UnconfirmedStall] = [:]

    /// The time at which the first of the unconfirmed triggers is checked again; nil if there are none.
    var nextSample: Duration? { unconfirmedStalls.values.map(\.end).min() }

    /// Records a count. Samples that are too old for a trigger are removed, and samples in quick succession count as
    /// one.
    mutating func record(_ count: StallCount?, at now: Duration) {
        guard let count else { return }
        if let last = samples.last, now - last.time < Self.minimumInterval { return }
        samples.append((now, count))
        if let first = samples.lastIndex(where: { now - $0.time >= Self.span }) { samples.removeFirst(first) }
    }

    /// Checks a trigger that has fired against the counts. Without counts, the trigger is accepted.
    ///
    /// - Parameters:
    ///   - level: The level of the trigger.
    ///   - count: The current count.
    ///   - now: The time at which the trigger fired.
    /// - Returns: Whether the level is confirmed. If not, ``resolve(_:at:)`` decides later.
    mutating func confirms(_ level: MemoryPressure, _ count: StallCount?, at now: Duration) -> Bool {
        guard let count, let before = samples.last(where: { now - $0.time >= Self.span }) ?? samples.first,
            !count.shows(level, since: before.count)
        else {
            unconfirmedStalls[level] = nil
            return true
        }
        // An earlier unconfirmed announcement is kept, because it covers a longer time. If each repeated trigger
        // replaced it, it might never be settled.
        if unconfirmedStalls[level] == nil {
            unconfirmedStalls[level] = UnconfirmedStall(end: now + Self.confirmationDelay, before: before.count)
        }
        return false
    }

    /// Settles the unconfirmed announcements that are due. If `count` is nil, they are confirmed.
    ///
    /// - Returns: The levels that are confirmed after all.
    mutating func resolve(_ count: StallCount?, at now: Duration) -> [MemoryPressure] {
        let due = unconfirmedStalls.filter { $0.value.end <= now }
        for level in due.keys { unconfirmedStalls[level] = nil }
        return due.filter { count?.shows($0.key, since: $0.value.before) ?? true }.map(\.key)
    }
}
