import Testing

@testable import AlcedoCURL

@Suite struct CURLScheduleTests {
    private func exchange(_ host: String) throws -> CURLExchange {
        CURLExchange(try CURLExchangeTests.request("http://\(host)/"), onSpace: { _ in }, onCancel: { _ in })
    }

    @Test func `a host whose only waiting exchange is canceled keeps its limit`() throws {
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

    @Test func `an exchange that was taken from the queue is not held while its host is busy`() throws {
        var schedule = CURLSchedule(limit: 100, hostLimit: 100)
        weak var released: CURLExchange?
        do {
            let exchange = try exchange("a")
            released = exchange
            schedule.enqueue(exchange)
            schedule.enqueue(try self.exchange("a"))
            schedule.enqueue(try self.exchange("a"))
            #expect(schedule.next() === exchange)
        }
        #expect(released == nil)
    }

    @Test func `a queue returns the oldest first, also after removals`() throws {
        var queue = ExchangeQueue()
        var expected: [CURLExchange] = []
        for number in 0..<300 {
            let exchange = try exchange("a")
            queue.append(exchange)
            expected.append(exchange)
            if number % 3 == 0 {
                let first = queue.popFirst()
                #expect(first === expected.removeFirst())
            }
            if number % 7 == 0, let last = expected.popLast() { queue.remove(last) }
        }
        let rest = queue.removeAll()
        #expect(rest.count == expected.count && zip(rest, expected).allSatisfy { $0 === $1 })
        #expect(queue.isEmpty)
    }

    @Test func `a server that timed out is unresponsive until it responds`() {
        var servers = UnresponsiveServers()
        servers.recordTimeout("a")
        #expect(servers.contains("a") && !servers.contains("b"))
        servers.recordResponse("b")
        #expect(servers.contains("a"))
        servers.recordResponse("a")
        #expect(!servers.contains("a"))
    }

    @Test func `a host without waiting exchanges delays no other`() throws {
        var schedule = CURLSchedule(limit: 1, hostLimit: 1)
        let (first, cancelled, last) = (try exchange("a"), try exchange("b"), try exchange("c"))
        for one in [first, cancelled, last] { schedule.enqueue(one) }
        #expect(schedule.next() === first)
        schedule.remove(cancelled)
        schedule.ended(first)
        #expect(schedule.next() === last)
    }
}
