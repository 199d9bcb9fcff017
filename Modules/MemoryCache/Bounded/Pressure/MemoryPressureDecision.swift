import AlcedoCore

/// The state machine that derives a level of memory pressure from readings. It accesses no file, clock or lock.
///
/// To prevent rapid changes, a level holds for `holdDuration` after its last sign. After that, the next lower level
/// that still holds applies. All times are of one monotonic clock.
struct MemoryPressureDecision: Sendable {
    private let holdDuration: Duration
    /// The level of the last readings, which holds until the next ones.
    private var currentLevel = MemoryPressure.normal
    private var events: MemoryEvents?
    private var stalls: (count: StallCount, time: Duration)?
    private var ends: [MemoryPressure: Duration] = [:]

    /// Creates a state machine at the level normal. A `holdDuration` below zero counts as zero.
    init(holdDuration: Duration) { self.holdDuration = max(.zero, holdDuration) }

    /// Records readings. The first counts of events and stall times serve as the baseline only.
    mutating func record(_ readings: MemoryReadings, at now: Duration) {
        currentLevel = readings.level
        var signs = [readings.level]
        if let latest = readings.events {
            if let events { signs.append(latest.level(since: events)) }
            events = latest
        }
        if let latest = readings.stalls {
            if let stalls { signs.append(latest.level(since: stalls.count, within: now - stalls.time)) }
            stalls = (latest, now)
        }
        for level in signs { ends[level] = now + holdDuration }
    }

    func level(at now: Duration) -> MemoryPressure {
        ends.reduce(currentLevel) { now < $1.value ? max($0, $1.key) : $0 }
    }
}
