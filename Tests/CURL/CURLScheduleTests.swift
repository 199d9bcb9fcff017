import Testing

@testable import AlcedoCURL

@Suite struct CURLScheduleTests {
    private func exchange(_ host: String) throws -> CURLExchange {
        CURLExchange(try CURLExchangeTests.request("http://\(host)/"), onSpace: { _ in }, onCancel: { _ in })
    }

    @Test func `a host whose only waiting exchange is cancelled keeps its limit`() throws {
        var schedule = CURLSchedule(limit: 2, hostLimit: 1)
        let others = [try exchange("a"), try exchange("b")]
        for other in others { schedule.enqueue(other) }
        for other in others { #expect(schedule.next() === other) }
        let waiting = try (0..<3).map { _ in try exchange("c") }
        schedule.enqueue(waiting[0])
        schedule.remove(waiting[0])
        schedule.enqueue(waiting[1])
        schedule.enqueue(waiting[2])
        for other in others { schedule.ended(other) }

        #expect(schedule.next() === waiting[1])
        #expect(schedule.next() == nil)
        schedule.ended(waiting[1])
        #expect(schedule.next() === waiting[2])
        #expect(schedule.next() == nil)
    }

    @Test func `a host with nothing left to begin holds nobody up`() throws {
        var schedule = CURLSchedule(limit: 1, hostLimit: 1)
        let (first, gone, last) = (try exchange("a"), try exchange("b"), try exchange("c"))
        for one in [first, gone, last] { schedule.enqueue(one) }
        #expect(schedule.next() === first)
        schedule.remove(gone)
        schedule.ended(first)
        #expect(schedule.next() === last)
    }
}
