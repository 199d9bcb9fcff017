import AlcedoCore

/// The state machine that derives a level of memory pressure from stalls and readings. It accesses no file, clock or
/// lock.
///
/// To prevent rapid changes, a level holds for `holdDuration` after its last sign. After that, the next lower level
/// that still holds applies. All times are of one monotonic clock.
struct MemoryPressureDecision: Sendable {
    private let holdDuration: Duration
    /// The level of the last readings, which holds until the next ones.
    private var currentLevel = MemoryPressure.normal
    private var events: MemoryEvents?
    private var warningEnd: Duration?
    private var criticalEnd: Duration?

    /// Creates a state machine at the level normal.
    ///
    /// - Parameter holdDuration: The time for which a level holds after its last sign. Values below zero count as zero.
    init(holdDuration: Duration) { self.holdDuration = max(.zero, holdDuration) }

    /// Records that tasks were stalled because memory was short.
    mutating func recordStall(_ level: MemoryPressure, at now: Duration) { maintain(level, from: now) }

    /// Records readings. The first event counters serve as the baseline only.
    mutating func record(_ readings: MemoryReadings, at now: Duration) {
        currentLevel = readings.level
        maintain(currentLevel, from: now)
        guard let latest = readings.events else { return }
        if let events { maintain(latest.level(since: events), from: now) }
        events = latest
    }

    func level(at now: Duration) -> MemoryPressure {
        if let criticalEnd, now < criticalEnd { return .critical }
        if let warningEnd, now < warningEnd { return max(.warning, currentLevel) }
        return currentLevel
    }

    /// Returns the earliest time at which the level may fall without another sign; nil if no level is held.
    func nextChange(after now: Duration) -> Duration? {
        [warningEnd, criticalEnd].compactMap { $0 }.filter { $0 > now }.min()
    }

    private mutating func maintain(_ level: MemoryPressure, from now: Duration) {
        switch level {
        case .normal: break
        case .warning: warningEnd = now + holdDuration
        case .critical: criticalEnd = now + holdDuration
        }
    }
}
