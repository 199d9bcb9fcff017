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
            (899, nil, 1000, .normal), (900, nil, 1000, .warning), (969, nil, 1000, .warning),
            (970, nil, 1000, .critical),
            (899, 1000, nil, .normal), (900, 1000, nil, .warning), (5000, 1000, nil, .warning),
            (900, 1000, 5000, .warning), (4900, 1000, 5000, .critical), (Int.max, nil, nil, .normal),
            (0, nil, 0, .critical),
            (Int.max, Int.max, Int.max, .critical),
        ] as [(Int, Int?, Int?, MemoryPressure)])
    func `usage near a limit raises the level`(used: Int, high: Int?, max: Int?, level: MemoryPressure) {
        #expect(MemoryUsage(current: used, inactiveFile: 0, high: high, max: max).level == level)
    }

    @Test func `the inactive file cache does not count as usage`() {
        #expect(MemoryUsage(current: 1000, inactiveFile: 200, max: 1000).level == .normal)
        #expect(MemoryUsage(current: 100, inactiveFile: 200).used == 0)
        #expect(MemoryUsage(current: 100, inactiveFile: -1).used == 100)
        #expect(MemoryUsage(current: 0, inactiveFile: .max).used == 0)
    }

    @Test(
        arguments: [
            (100, .normal), (10, .normal), (9, .warning), (5, .warning), (4, .critical), (0, .critical),
        ] as [(Int, MemoryPressure)])
    func `little available memory raises the level`(available: Int, level: MemoryPressure) {
        #expect(AvailableMemory(available: available, total: 100).level == level)
    }

    @Test func `available memory is unknown unless both figures exist`() {
        let text = "MemTotal: 100 kB\nMemFree: 1 kB\nMemAvailable: 40 kB\n"

        #expect(AvailableMemory(Array(text.utf8)) == AvailableMemory(available: 40 << 10, total: 100 << 10))
        #expect(AvailableMemory(Array("MemTotal: 100 kB\nMemFree: 1 kB\n".utf8)) == nil)
        #expect(AvailableMemory(Array("MemAvailable: 100 kB\n".utf8)) == nil)
        #expect(AvailableMemory(available: 0, total: 0).level == .normal)
    }

    @Test func `the worst figure decides the level`() {
        var readings = MemoryReadings()
        #expect(readings.level == .normal)
        readings.available = AvailableMemory(available: 9, total: 100)
        #expect(readings.level == .warning)
        readings.usages = [
            MemoryUsage(current: 0, inactiveFile: 0, max: 10), MemoryUsage(current: 10, inactiveFile: 0, max: 10),
        ]
        #expect(readings.level == .critical)
    }
}
