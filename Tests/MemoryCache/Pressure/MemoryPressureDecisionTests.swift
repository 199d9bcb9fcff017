import AlcedoCore
@testable import AlcedoMemoryCache
import TestSupport
import Testing

@Suite struct MemoryPressureDecisionTests {
    private var decision = MemoryPressureDecision(holdDuration: .seconds(10))

    private func readings(_ level: MemoryPressure = .normal, events: MemoryEvents? = nil) -> MemoryReadings {
        MemoryReadings(level: level, events: events)
    }

    @Test func `the level is normal without readings or stalls`() {
        #expect(decision.level(at: .zero) == .normal)
        #expect(decision.nextChange(after: .zero) == nil)
    }

    @Test(arguments: [MemoryPressure.warning, .critical])
    mutating func `a stall holds its level for the hold duration`(level: MemoryPressure) {
        decision.record(level, at: .seconds(100))

        #expect(decision.level(at: .seconds(100)) == level)
        #expect(decision.level(at: .milliseconds(109_999)) == level)
        #expect(decision.nextChange(after: .seconds(100)) == .seconds(110))
        #expect(decision.level(at: .seconds(110)) == .normal)
        #expect(decision.nextChange(after: .seconds(110)) == nil)
    }

    @Test mutating func `each stall restarts the hold duration`() {
        for second in stride(from: 0, through: 60, by: 2) { decision.record(.warning, at: .seconds(second)) }

        #expect(decision.level(at: .seconds(69)) == .warning)
        #expect(decision.level(at: .seconds(70)) == .normal)
    }

    @Test mutating func `after the worst level ends, the level falls to the one that still holds`() {
        decision.record(.critical, at: .seconds(0))
        decision.record(.warning, at: .seconds(6))

        #expect(decision.level(at: .seconds(9)) == .critical)
        #expect(decision.nextChange(after: .seconds(9)) == .seconds(10))
        #expect(decision.level(at: .seconds(10)) == .warning)
        #expect(decision.nextChange(after: .seconds(10)) == .seconds(16))
        #expect(decision.level(at: .seconds(16)) == .normal)
    }

    @Test mutating func `a warning does not end the critical level`() {
        decision.record(.critical, at: .seconds(0))
        decision.record(.warning, at: .seconds(1))
        #expect(decision.level(at: .seconds(2)) == .critical)
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
        decision.record(.critical, at: .seconds(1))
        #expect(decision.level(at: .seconds(1)) == .normal)
        #expect(decision.nextChange(after: .seconds(1)) == nil)

        decision.record(readings(.warning), at: .seconds(2))
        #expect(decision.level(at: .seconds(3)) == .warning)
    }

    @Test func `without new readings or stalls the level falls to normal at the predicted times`() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<300 {
            var decision = MemoryPressureDecision(holdDuration: .seconds(Int.random(in: 0...20, using: &random)))
            var now = Duration.zero
            for _ in 0..<20 {
                now += .milliseconds(Int.random(in: 0...4000, using: &random))
                let levels: [MemoryPressure] = [.normal, .warning, .critical]
                let level = levels[.random(in: 0...2, using: &random)]
                if Bool.random(using: &random) {
                    decision.record(level, at: now)
                } else {
                    decision.record(readings(level), at: now)
                }
            }
            decision.record(readings(), at: now)
            var last = decision.level(at: now)
            while let change = decision.nextChange(after: now) {
                #expect(change > now)
                #expect(decision.level(at: change - .nanoseconds(1)) == last)
                now = change
                #expect(decision.level(at: now) <= last)
                last = decision.level(at: now)
            }
            #expect(last == .normal)
        }
    }
}
