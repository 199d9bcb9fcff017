import AlcedoCore
@testable import AlcedoMemoryCache
import Testing

@Suite struct MemoryReadingsTests {
    @Test func `rising counters are events`() {
        let before = MemoryEvents(high: 1, max: 1, oom: 1)

        #expect(before.level(since: before) == .normal)
        #expect(MemoryEvents(high: 2, max: 1, oom: 1).level(since: before) == .warning)
        #expect(MemoryEvents(high: 1, max: 2, oom: 1).level(since: before) == .warning)
        #expect(MemoryEvents(high: 9, max: 1, oom: 2).level(since: before) == .critical)
    }

    @Test func `falling or missing counters are no events`() {
        let before = MemoryEvents(high: 5, max: 5, oom: 5)

        #expect(MemoryEvents(high: 0, max: 0, oom: 0).level(since: before) == .normal)
        #expect(MemoryEvents().level(since: before) == .normal)
        #expect(before.level(since: MemoryEvents()) == .normal)
    }

    @Test func `events are read by name`() {
        let text = Array("low 0\nhigh 3\nmax 4\noom 5\noom_kill 6\noom_group_kill 7\n".utf8)
        #expect(MemoryEvents(text) == MemoryEvents(high: 3, max: 4, oom: 5))
        #expect(MemoryEvents(Array("max 4".utf8)) == MemoryEvents(max: 4))
    }

    @Test(
        arguments: [
            (99_999, 0, 2, .normal), (100_000, 0, 2, .warning), (149_999, 149_999, 2, .warning),
            (150_000, 150_000, 2, .critical), (249_999, 0, 5, .normal), (250_000, 0, 5, .warning),
            (99_999, 0, 1, .normal), (100_000, 0, 0, .warning), (-5, -5, 2, .normal),
        ] as [(Int, Int, Int, MemoryPressure)])
    func `the share of stalls in the time between two readings raises the level`(
        some: Int, full: Int, seconds: Int, level: MemoryPressure
    ) {
        let before = StallCount(some: 7, full: 7)
        let count = StallCount(some: 7 + some, full: 7 + full)
        #expect(count.level(since: before, within: .seconds(seconds)) == level)
    }

    @Test(
        arguments: [
            (899, nil, 1000, .normal), (900, nil, 1000, .warning), (969, nil, 1000, .warning),
            (970, nil, 1000, .critical),
            (899, 1000, nil, .normal), (900, 1000, nil, .warning), (5000, 1000, nil, .warning),
            (900, 1000, 5000, .warning), (4900, 1000, 5000, .critical), (Int.max, nil, nil, .normal),
            (0, nil, 0, .critical), (-1, nil, 1000, .normal), (.min, 0, 0, .critical),
            (Int.max, Int.max, Int.max, .critical),
        ] as [(Int, Int?, Int?, MemoryPressure)])
    func `usage near a limit raises the level`(used: Int, high: Int?, max: Int?, level: MemoryPressure) {
        #expect(MemoryPressure(used: used, high: high, max: max) == level)
    }

    @Test(
        arguments: [
            (100, .normal), (10, .normal), (9, .warning), (5, .warning), (4, .critical), (0, .critical),
        ] as [(Int, MemoryPressure)])
    func `little available memory raises the level`(available: Int, level: MemoryPressure) {
        #expect(MemoryPressure(available: available, of: 100) == level)
    }

    @Test func `a machine without memory is not short of it`() {
        #expect(MemoryPressure(available: 0, of: 0) == .normal)
    }
}
