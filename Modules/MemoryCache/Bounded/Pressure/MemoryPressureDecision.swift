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
    private var ends: [MemoryPressure: Duration] = [:]

    /// Creates a state machine at the level normal.
    ///
    /// - Parameter holdDuration: The time for which a level holds after its last sign. Values below zero count as zero.
    init(holdDuration: Duration) { self.holdDuration = max(.zero, holdDuration) }

    /// Records a sign of a level, such as a stall of tasks because memory was short.
    mutating func record(_ level: MemoryPressure, at now: Duration) { ends[level] = now + holdDuration }

    /// Records readings. The first event counters serve as the baseline only.
    mutating func record(_ readings: MemoryReadings, at now: Duration) {
        currentLevel = readings.level
        record(currentLevel, at: now)
        guard let latest = readings.events else { return }
        if let events { record(latest.level(since: events), at: now) }
        events = latest
    }

    func level(at now: Duration) -> MemoryPressure {
        ends.reduce(currentLevel) { now < $1.value ? max($0, $1.key) : $0 }
    }

    /// Returns the earliest time at which the level may fall without another sign; nil if no level is held.
    func nextChange(after now: Duration) -> Duration? {
        ends.filter { $0.key > .normal && $0.value > now }.values.min()
    }
}
