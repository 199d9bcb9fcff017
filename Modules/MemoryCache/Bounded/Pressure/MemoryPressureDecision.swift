import AlcedoCore

/// Makes a level of what is noticed. Decides only: never reads a file, a clock or a lock.
///
/// A level holds for a while after the last sign of it, so that it does not flicker; then the next lower one that still
/// holds follows. Times are those of one clock that never goes back.
struct MemoryPressureDecision: Sendable {
    private let holdDuration: Duration
    /// What the last readings said; true until the next ones.
    private var currentLevel = MemoryPressure.normal
    private var events: MemoryEvents?
    private var warningEnd: Duration?
    private var criticalEnd: Duration?

    /// - Parameter holdDuration: How long a level holds after the last sign of it. Below zero counts as zero.
    init(holdDuration: Duration) { self.holdDuration = max(.zero, holdDuration) }

    /// Tasks were stalled for want of memory.
    mutating func recordStall(_ level: MemoryPressure, at now: Duration) { maintain(level, from: now) }

    /// The first counters are only where counting begins.
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

    /// When the level may fall if nothing more is noticed; nil when it will not.
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
