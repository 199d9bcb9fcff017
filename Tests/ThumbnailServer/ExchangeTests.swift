import Alcedo
import TestSupport
import Testing

@testable import thumbnail_server

@Suite(.timeLimit(.minutes(5)))
struct ExchangeTests {
    private let resumed = Guarded(0)

    private func exchange() -> Exchange {
        Exchange(number: 1, head: RequestHead(method: "GET", target: "/")) { [resumed] in resumed.change { $0 += 1 } }
    }

    private func status(_ exchange: Exchange) -> Int? {
        if case .reply(let reply)? = exchange.outcome { reply.status } else { nil }
    }

    @Test func `work settles it, once`() async throws {
        let exchange = exchange()
        exchange.start { Reply(status: 200) }
        while resumed.value == 0 { await Task.yield() }
        exchange.settle(.gone)
        #expect(status(exchange) == 200 && resumed.value == 1)
    }

    @Test func `a client that goes cancels the work, and what that gives is dropped`() async throws {
        let exchange = exchange()
        let isCancelled = Guarded(false)
        exchange.start {
            while !Task.isCancelled { await Task.yield() }
            isCancelled.change { $0 = true }
            return Reply(status: 200)
        }
        exchange.settle(.gone)
        while !isCancelled.value { await Task.yield() }
        #expect(status(exchange) == nil && resumed.value == 1)
    }

    /// A request that is answered at once may be over, and its memory gone, at any time.
    @Test func `what does not wait is not gone on with`() {
        let exchange = exchange()
        exchange.settle(.reply(Reply(status: 503)))
        #expect(resumed.value == 0)
    }

    @Test func `what was settled before it waits begins no work`() {
        let exchange = exchange()
        exchange.settle(.reply(Reply(status: 503)))
        exchange.start { Reply(status: 200) }
        #expect(status(exchange) == 503 && resumed.value == 1)
    }
}
