import AlcedoCore
@testable import AlcedoMemoryCache
import TestSupport
import Testing

@Suite struct MemoryPressureDecisionTests {
    private var decision = MemoryPressureDecision(holdDuration: .seconds(10))

    private func readings(_ level: MemoryPressure = .normal, events: MemoryEvents? = nil) -> MemoryReadings {
        MemoryReadings(level: level, events: events)
    }

    /// Records readings of a level, and readings of the level normal in the same instant.
    private mutating func record(_ level: MemoryPressure, at second: Int) {
        decision.record(readings(level), at: .seconds(second))
        decision.record(readings(), at: .seconds(second))
    }

    @Test func `the level is normal without readings`() {
        #expect(decision.level(at: .zero) == .normal)
    }

    @Test(arguments: [MemoryPressure.warning, .critical])
    mutating func `a sign holds its level for the hold duration`(level: MemoryPressure) {
        record(level, at: 100)

        #expect(decision.level(at: .seconds(100)) == level)
        #expect(decision.level(at: .milliseconds(109_999)) == level)
        #expect(decision.level(at: .seconds(110)) == .normal)
    }

    @Test mutating func `each sign restarts the hold duration`() {
        for second in stride(from: 0, through: 60, by: 2) { record(.warning, at: second) }

        #expect(decision.level(at: .seconds(69)) == .warning)
        #expect(decision.level(at: .seconds(70)) == .normal)
    }

    @Test mutating func `after the worst level ends, the level falls to the one that still holds`() {
        record(.critical, at: 0)
        record(.warning, at: 6)

        #expect(decision.level(at: .seconds(9)) == .critical)
        #expect(decision.level(at: .seconds(10)) == .warning)
        #expect(decision.level(at: .seconds(16)) == .normal)
    }

    @Test mutating func `a warning does not end the critical level`() {
        record(.critical, at: 0)
        record(.warning, at: 1)
        #expect(decision.level(at: .seconds(2)) == .critical)
    }

    @Test mutating func `the first stall times raise no level, and later ones are compared with the last`() {
        func record(some: Int, full: Int, at second: Int) {
            decision.record(MemoryReadings(stalls: StallCount(some: some, full: full)), at: .seconds(second))
        }
        record(some: 9_000_000, full: 9_000_000, at: 0)
        #expect(decision.level(at: .seconds(0)) == .normal)

        record(some: 9_100_000, full: 9_000_000, at: 2)
        #expect(decision.level(at: .seconds(2)) == .warning)
        #expect(decision.level(at: .seconds(12)) == .normal)

        record(some: 9_500_000, full: 9_400_000, at: 12)
        #expect(decision.level(at: .seconds(12)) == .normal)
        record(some: 9_650_000, full: 9_550_000, at: 14)
        #expect(decision.level(at: .seconds(14)) == .critical)
    }

    @Test mutating func `a level from readings stays until the next readings`() {
        decision.record(readings(.critical), at: .seconds(0))
        #expect(decision.level(at: .seconds(1000)) == .critical)

        decision.record(readings(.warning), at: .seconds(1001))
        #expect(decision.level(at: .seconds(1001)) == .warning)

        decision.record(readings(), at: .seconds(1005))
        #expect(decision.level(at: .seconds(1010)) == .warning)
        #expect(decision.level(at: .seconds(1011)) == .normal)
    }

    @Test mutating func `the first counters raise no level, and later ones are compared with them`() {
        decision.record(readings(events: MemoryEvents(high: 100, max: 100, oom: 100)), at: .seconds(0))
        #expect(decision.level(at: .seconds(0)) == .normal)

        decision.record(readings(events: MemoryEvents(high: 101, max: 100, oom: 100)), at: .seconds(5))
        #expect(decision.level(at: .seconds(5)) == .warning)

        decision.record(readings(events: MemoryEvents(high: 101, max: 100, oom: 101)), at: .seconds(10))
        #expect(decision.level(at: .seconds(10)) == .critical)
        #expect(decision.level(at: .seconds(20)) == .normal)
    }

    @Test mutating func `counters that were missing once are compared with the last known ones`() {
        decision.record(readings(events: MemoryEvents(max: 1)), at: .seconds(0))
        decision.record(readings(), at: .seconds(5))
        decision.record(readings(events: MemoryEvents(max: 2)), at: .seconds(10))
        #expect(decision.level(at: .seconds(10)) == .warning)
    }

    @Test func `without a hold duration an event ends at once`() {
        var decision = MemoryPressureDecision(holdDuration: .seconds(-5))
        decision.record(readings(.critical), at: .seconds(1))
        decision.record(readings(), at: .seconds(1))
        #expect(decision.level(at: .seconds(1)) == .normal)

        decision.record(readings(.warning), at: .seconds(2))
        #expect(decision.level(at: .seconds(3)) == .warning)
    }
}
