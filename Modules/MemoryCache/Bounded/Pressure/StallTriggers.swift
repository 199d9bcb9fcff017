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

    /// The descriptors of the triggers that are armed, and the level that each announces.
    let armed: [(level: MemoryPressure, descriptor: Int32)]
    /// A function that reads the kernel's count of stall times. It returns nil if the kernel does not provide the
    /// count.
    let readCount: @Sendable () -> StallCount?

    /// Takes ownership of two descriptors; -1 for a missing one.
    init(
        warning: Int32 = -1, critical: Int32 = -1, readCount: @escaping @Sendable () -> StallCount? = { nil }
    ) {
        let both: [(level: MemoryPressure, descriptor: Int32)] = [(.warning, warning), (.critical, critical)]
        armed = both.filter { $0.descriptor >= 0 }
        self.readCount = readCount
    }

    /// Arms both triggers, as far as the kernel permits.
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

    deinit { for trigger in armed { close(trigger.descriptor) } }

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
    var some: Int
    /// The time for which all tasks were stalled at once.
    var full: Int

    /// Returns whether the increase since an earlier count suffices for the trigger of a level to fire.
    func shows(_ level: MemoryPressure, since earlier: Self) -> Bool {
        switch level {
        case .normal: true
        case .warning: some - earlier.some >= Self.warningThreshold
        case .critical: full - earlier.full >= Self.criticalThreshold
        }
    }
}

extension StallCount {
    /// Parses the figures `total` in the text of a pressure file. Returns nil if one is missing.
    init?(_ text: [UInt8]) {
        guard let some = KernelText.number(of: "total", after: "some", in: text),
            let full = KernelText.number(of: "total", after: "full", in: text)
        else { return nil }
        self.init(some: some, full: full)
    }
}

/// The recent stall counts, which confirm or refute the triggers that fire.
///
/// Some kernels fire triggers although tasks were hardly stalled. The counts of these kernels are correct. Linux 6.18
/// fired "some" and "full" at once when the counts had risen by 148 microseconds. A trigger may also precede the
/// readable counts, which are updated only every two seconds. An announced level therefore waits until a count confirms
/// it or until the counts have been updated.
struct StallHistory: Sendable {
    /// The minimum age of the sample with which the current count is compared. A trigger covers its window and a part
    /// of the previous one.
    private static let span = StallTriggers.window * 2
    private static let minimumInterval = StallTriggers.window / 2
    /// The time for which an announced level waits, after which the counts have been updated.
    private static let confirmationDelay = StallTriggers.window + .milliseconds(100)

    private var samples: [(time: Duration, count: StallCount)] = []
    /// The announced levels that no count has confirmed yet, with the count before the stall if there is one.
    private var announced: [MemoryPressure: (end: Duration, before: StallCount?)] = [:]

    /// The time by which the counts should be read again; nil if no level waits for them.
    var nextCheck: Duration? { announced.values.map(\.end).min() }

    /// Records that the trigger of a level has fired.
    mutating func announce(_ level: MemoryPressure, at now: Duration) {
        // An earlier announcement is kept, because it covers a longer time. If each repeated trigger replaced it, it
        // might never be settled.
        guard announced[level] == nil else { return }
        let before = samples.last { now - $0.time >= Self.span } ?? samples.first
        announced[level] = (now + Self.confirmationDelay, before?.count)
    }

    /// Records a count. Returns the announced levels that the count confirms, and drops those that have waited long
    /// enough. Without a count now or before the stall, an announced level is confirmed.
    mutating func confirm(by count: StallCount?, at now: Duration) -> [MemoryPressure] {
        let confirmed = announced.filter { level, announcement in
            guard let count, let before = announcement.before else { return true }
            return count.shows(level, since: before)
        }.map(\.key)
        announced = announced.filter { !confirmed.contains($0.key) && now < $0.value.end }
        // Samples in quick succession count as one.
        if let count, samples.last.map({ now - $0.time >= Self.minimumInterval }) ?? true {
            samples.append((now, count))
            // Only one sample that is old enough for a comparison is needed.
            if let first = samples.lastIndex(where: { now - $0.time >= Self.span }) { samples.removeFirst(first) }
        }
        return confirmed
    }
}
