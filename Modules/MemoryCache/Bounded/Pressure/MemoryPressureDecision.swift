import AlcedoCore

/// Makes a level of what is noticed. Decides only: never reads a file, a clock or a lock.
///
/// A level holds for a while after the last sign of it, so that it does not flicker; then the next lower one that still
/// holds follows. Times are those of one clock that never goes back.
struct MemoryPressureDecision: Sendable {
    private let hold: Duration
    /// What the last readings said; true until the next ones.
    private var standing = MemoryPressure.normal
    private var events: MemoryEvents?
    private var warningEnd: Duration?
    private var criticalEnd: Duration?

    /// - Parameter hold: How long a level holds after the last sign of it. Below zero counts as zero.
    init(hold: Duration) { self.hold = max(.zero, hold) }

    /// Tasks were stalled for want of memory.
    mutating func noteStall(_ level: MemoryPressure, at now: Duration) { keep(level, from: now) }

    /// The first counters are only where counting begins.
    mutating func note(_ readings: MemoryReadings, at now: Duration) {
        standing = readings.level
        keep(standing, from: now)
        guard let latest = readings.events else { return }
        if let events { keep(latest.level(since: events), from: now) }
        events = latest
    }

    func level(at now: Duration) -> MemoryPressure {
        if let criticalEnd, now < criticalEnd { return .critical }
        if let warningEnd, now < warningEnd { return max(.warning, standing) }
        return standing
    }

    /// When the level may fall if nothing more is noticed; nil when it will not.
    func nextChange(after now: Duration) -> Duration? {
        [warningEnd, criticalEnd].compactMap { $0 }.filter { $0 > now }.min()
    }

    private mutating func keep(_ level: MemoryPressure, from now: Duration) {
        switch level {
        case .normal: break
        case .warning: warningEnd = now + hold
        case .critical: criticalEnd = now + hold
        }
    }
}
