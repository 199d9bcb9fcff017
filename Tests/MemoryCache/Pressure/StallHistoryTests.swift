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
        _ = history.confirm(by: start, at: .zero)
        let enough = level == .warning ? later(100, 0) : later(0, 150)

        history.announce(level, at: .milliseconds(5))
        let confirmed = history.confirm(by: enough, at: .milliseconds(5))

        #expect(confirmed == [level])
        #expect(history.nextCheck == nil)
    }

    @Test(arguments: [MemoryPressure.warning, .critical])
    mutating func `a stall that the counter never shows is rejected`(level: MemoryPressure) {
        _ = history.confirm(by: start, at: .zero)
        // Large counts of the other kind do not matter.
        let little = level == .warning ? later(99, 900) : later(900, 149)

        history.announce(level, at: .seconds(1))
        for millisecond in [1000, 3099] {
            let confirmed = history.confirm(by: little, at: .milliseconds(millisecond))
            #expect(confirmed.isEmpty)
            #expect(history.nextCheck == .milliseconds(3100))
        }

        let settled = history.confirm(by: little, at: .milliseconds(3100))
        #expect(settled.isEmpty)
        #expect(history.nextCheck == nil)
        let late = history.confirm(by: later(900, 900), at: .milliseconds(3101))
        #expect(late.isEmpty)
    }

    @Test mutating func `a stall that the counter shows after its update is accepted then, per level`() {
        _ = history.confirm(by: start, at: .zero)
        history.announce(.warning, at: .seconds(1))
        history.announce(.critical, at: .seconds(2))
        // The trigger continues to fire, and the first announcement stays.
        history.announce(.warning, at: .seconds(3))
        #expect(history.nextCheck == .milliseconds(3100))

        let first = history.confirm(by: later(200, 100), at: .milliseconds(3100))
        #expect(first == [.warning])
        #expect(history.nextCheck == .milliseconds(4100))
        let second = history.confirm(by: later(200, 200), at: .milliseconds(4100))
        #expect(second == [.critical])
        #expect(history.nextCheck == nil)
    }

    @Test mutating func `stalls that occurred seconds before a trigger do not confirm it`() {
        _ = history.confirm(by: start, at: .zero)
        _ = history.confirm(by: later(900, 900), at: .seconds(10))
        for second in 11...15 { _ = history.confirm(by: later(950, 950), at: .seconds(second)) }

        history.announce(.warning, at: .seconds(15))
        let confirmed = history.confirm(by: later(951, 951), at: .seconds(15))
        #expect(confirmed.isEmpty)
    }

    @Test mutating func `readings in quick succession keep the older ones`() {
        _ = history.confirm(by: start, at: .zero)
        for millisecond in 1..<4000 { _ = history.confirm(by: later(100, 0), at: .milliseconds(millisecond)) }

        history.announce(.warning, at: .milliseconds(4000))
        let confirmed = history.confirm(by: later(100, 0), at: .milliseconds(4000))
        #expect(confirmed == [.warning])
    }

    @Test mutating func `a trigger is accepted where no counter exists`() {
        history.announce(.critical, at: .zero)
        let withoutPast = history.confirm(by: start, at: .zero)
        #expect(withoutPast == [.critical])

        history.announce(.critical, at: .seconds(1))
        let withoutPresent = history.confirm(by: nil, at: .seconds(1))
        #expect(withoutPresent == [.critical])
        #expect(history.nextCheck == nil)
    }

    @Test func `a pressure file yields both counters`() {
        let text = """
            some avg10=0.00 avg60=1.25 avg300=0.10 total=123456
            full avg10=0.00 avg60=0.00 avg300=0.00 total=98

            """

        #expect(StallCount(Array(text.utf8)) == StallCount(some: 123_456, full: 98))
    }
}
