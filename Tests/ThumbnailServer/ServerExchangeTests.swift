import Alcedo
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

@Suite(.timeLimit(.minutes(5)))
struct ServerExchangeTests {
    private let resumed = Watched(0)
    private let executor = ManualExecutor()

    private func exchange(on executor: ManualExecutor? = nil) -> ServerExchange {
        ServerExchange(
            number: 1, head: RequestHead(method: "GET", target: "/"),
            resume: { [resumed] in resumed.update { $0 += 1 } }, taskExecutor: executor)
    }

    private func status(_ exchange: ServerExchange) -> Int? {
        if case .response(let response)? = exchange.outcome { response.status } else { nil }
    }

    @Test func `work settles an exchange once`() {
        let exchange = exchange(on: executor)
        exchange.start { ServerResponse(status: 200) }
        #expect(resumed.value == 0)
        executor.drain()
        exchange.settle(.disconnected)
        #expect(status(exchange) == 200)
        #expect(resumed.value == 1)
    }

    @Test func `a disconnected client cancels the work, and its result is dropped`() {
        let exchange = exchange(on: executor)
        let isCancelled = Watched(false)
        exchange.start {
            // Until it is canceled.
            try? await isCancelled.waitUntil { $0 }
            isCancelled.update { $0 = Task.isCancelled }
            return ServerResponse(status: 200)
        }
        executor.drain()
        exchange.settle(.disconnected)
        executor.drain()
        #expect(isCancelled.value)
        #expect(status(exchange) == nil)
        #expect(resumed.value == 1)
    }

    /// A request that receives its response at once may have ended, and its memory may be freed, at any time.
    @Test func `settling an exchange that does not wait resumes nothing`() {
        let exchange = exchange()
        exchange.settle(.response(ServerResponse(status: 503)))
        #expect(resumed.value == 0)
    }

    @Test func `an exchange settled before it waits begins no work`() {
        let exchange = exchange()
        exchange.settle(.response(ServerResponse(status: 503)))
        exchange.start { ServerResponse(status: 200) }
        #expect(status(exchange) == 503)
        #expect(resumed.value == 1)
    }

    @Test(arguments: [true, false])
    func `a request releases its slot whether its client leaves before or after the work begins`(
        isDisconnected: Bool
    )
        async throws
    {
        let stack = ServerStack(ServerStack.Settings())
        func number() -> Bool {
            guard
                case .response(let response) = stack.service.respond(to: RequestHead(method: "GET", target: "/metrics"))
            else {
                return false
            }
            return String(decoding: response.body, as: UTF8.self).contains("\nthumbnail_requests_in_flight 0\n")
        }
        func begin() {
            let head = RequestHead(method: "GET", target: "/thumbnail?url=http://127.0.0.1:1/a&w=10")
            guard case .asynchronous(let work) = stack.service.respond(to: head) else {
                Issue.record("it receives a response at once")
                return
            }
            #expect(!number())
            let exchange = exchange()
            if isDisconnected { exchange.settle(.disconnected) }
            exchange.start(work)
        }
        begin()
        if isDisconnected { #expect(number()) }
        try await eventually { number() }
        await stack.shutDown()
    }
}
