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

    @Test func `an exchange that was given out is not held, while its host is busy`() throws {
        var schedule = CURLSchedule(limit: 100, hostLimit: 100)
        weak var gone: CURLExchange?
        do {
            let exchange = try exchange("a")
            gone = exchange
            schedule.enqueue(exchange)
            schedule.enqueue(try self.exchange("a"))
            schedule.enqueue(try self.exchange("a"))
            #expect(schedule.next() === exchange)
        }
        #expect(gone == nil)
    }

    @Test func `a line gives back what came first, with some taken out in between`() throws {
        var line = CURLLine()
        var expected: [CURLExchange] = []
        for number in 0..<300 {
            let exchange = try exchange("a")
            line.append(exchange)
            expected.append(exchange)
            if number % 3 == 0 {
                let first = line.popFirst()
                #expect(first === expected.removeFirst())
            }
            if number % 7 == 0, let last = expected.popLast() { line.remove(last) }
        }
        let rest = line.removeAll()
        #expect(rest.count == expected.count && zip(rest, expected).allSatisfy { $0 === $1 })
        #expect(line.isEmpty)
    }

    @Test func `a server that was silent is doubted until it answers`() {
        var servers = SilentServers()
        servers.wasSilent("a")
        #expect(servers.contains("a") && !servers.contains("b"))
        servers.hasAnswered("b")
        #expect(servers.contains("a"))
        servers.hasAnswered("a")
        #expect(!servers.contains("a"))
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
