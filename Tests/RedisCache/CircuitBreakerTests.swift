import Testing

@testable import AlcedoRedisCache

struct CircuitBreakerTests {
    /// So that each step can be in an expectation.
    private final class Desk {
        private var breaker = CircuitBreaker(failureLimit: 2, restTime: .seconds(5))
        func mayAsk(at seconds: Int) -> Bool { breaker.mayAsk(at: .seconds(seconds)) }
        func failed(at seconds: Int) { breaker.failed(at: .seconds(seconds)) }
        func succeeded() { breaker.succeeded() }
        func gaveUp() { breaker.gaveUp() }
    }

    private let breaker = Desk()

    @Test func `failures in a row open it, and others do not`() {
        breaker.failed(at: 0)
        breaker.succeeded()
        breaker.failed(at: 1)
        #expect(breaker.mayAsk(at: 1))
        breaker.failed(at: 2)
        #expect(!breaker.mayAsk(at: 2))
        #expect(!breaker.mayAsk(at: 6))
    }

    @Test func `after the rest one asks, and the others when it was answered`() {
        breaker.failed(at: 0)
        breaker.failed(at: 0)
        #expect(breaker.mayAsk(at: 5))
        #expect(!breaker.mayAsk(at: 5))
        breaker.succeeded()
        #expect(breaker.mayAsk(at: 5))
        #expect(breaker.mayAsk(at: 5))
    }

    @Test func `one failure after the rest opens it again, and one that gave up lets the next ask`() {
        breaker.failed(at: 0)
        breaker.failed(at: 0)
        #expect(breaker.mayAsk(at: 5))
        breaker.failed(at: 5)
        #expect(!breaker.mayAsk(at: 9))
        #expect(breaker.mayAsk(at: 10))
        breaker.gaveUp()
        #expect(breaker.mayAsk(at: 10))
    }
}
