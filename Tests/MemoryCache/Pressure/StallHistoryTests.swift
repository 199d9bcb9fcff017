import AlcedoCore
@testable import AlcedoMemoryCache
import Testing

@Suite struct StallHistoryTests {
    private var history = StallHistory()
    private let start = StallCount(some: 7_000_000, full: 5_000_000)

    /// Counts of stalls the given number of milliseconds after the start.
    private func later(_ some: Int, _ full: Int) -> StallCount {
        StallCount(some: start.some + some * 1000, full: start.full + full * 1000)
    }

    @Test(arguments: [MemoryPressure.warning, .critical])
    mutating func `a stall that the counter shows at once is accepted at once`(level: MemoryPressure) {
        history.record(start, at: .zero)
        let enough = level == .warning ? later(100, 0) : later(0, 150)

        let isConfirmed = history.confirms(level, enough, at: .milliseconds(5))

        #expect(isConfirmed && history.nextSample == nil)
    }

    @Test(arguments: [MemoryPressure.warning, .critical])
    mutating func `a stall that the counter never shows is rejected`(level: MemoryPressure) {
        history.record(start, at: .zero)
        // Large counts of the other kind do not matter.
        let little = level == .warning ? later(99, 900) : later(900, 149)

        let isConfirmed = history.confirms(level, little, at: .seconds(1))
        #expect(!isConfirmed && history.nextSample == .milliseconds(3100))

        let tooEarly = history.resolve(later(900, 900), at: .milliseconds(3099))
        #expect(tooEarly.isEmpty)
        let settled = history.resolve(little, at: .milliseconds(3100))
        #expect(settled.isEmpty && history.nextSample == nil)
    }

    @Test mutating func `a stall that the counter shows after its update is accepted then, per level`() {
        history.record(start, at: .zero)
        let isWarning = history.confirms(.warning, start, at: .seconds(1))
        let isCritical = history.confirms(.critical, start, at: .seconds(2))
        // The trigger continues to fire, and the first rejection stays.
        let isStillWarning = history.confirms(.warning, start, at: .seconds(3))
        #expect(!isWarning && !isCritical && !isStillWarning)

        let first = history.resolve(later(200, 200), at: .milliseconds(3100))
        #expect(first == [.warning] && history.nextSample == .milliseconds(4100))
        let second = history.resolve(later(200, 200), at: .milliseconds(4100))
        #expect(second == [.critical] && history.nextSample == nil)
    }

    @Test mutating func `a rejected trigger is accepted again once it fires and the counter shows the stall`() {
        history.record(start, at: .zero)
        _ = history.confirms(.warning, start, at: .seconds(1))

        let isConfirmed = history.confirms(.warning, later(100, 0), at: .seconds(2))

        #expect(isConfirmed && history.nextSample == nil)
    }

    @Test mutating func `stalls that occurred seconds before a trigger do not confirm it`() {
        history.record(start, at: .zero)
        history.record(later(900, 900), at: .seconds(10))
        for second in 11...15 { history.record(later(950, 950), at: .seconds(second)) }

        let isConfirmed = history.confirms(.warning, later(951, 951), at: .seconds(15))
        #expect(!isConfirmed)
    }

    @Test mutating func `readings in quick succession keep the older ones`() {
        history.record(start, at: .zero)
        for millisecond in 1..<4000 { history.record(later(100, 0), at: .milliseconds(millisecond)) }

        let isConfirmed = history.confirms(.warning, later(100, 0), at: .milliseconds(4000))
        #expect(isConfirmed)
    }

    @Test mutating func `a trigger is accepted where no counter exists`() {
        let isConfirmedWithoutPast = history.confirms(.critical, start, at: .zero)
        history.record(start, at: .zero)
        let isConfirmedWithoutPresent = history.confirms(.critical, nil, at: .seconds(1))
        #expect(isConfirmedWithoutPast && isConfirmedWithoutPresent && history.nextSample == nil)

        _ = history.confirms(.critical, start, at: .seconds(1))
        let settled = history.resolve(nil, at: .seconds(4))
        #expect(settled == [.critical])
    }

    @Test func `a pressure file yields both counters`() {
        let text = """
            some avg10=0.00 avg60=1.25 avg300=0.10 total=123456
            full avg10=0.00 avg60=0.00 avg300=0.00 total=98

            """

        #expect(StallCount(Array(text.utf8)) == StallCount(some: 123_456, full: 98))
    }
}
