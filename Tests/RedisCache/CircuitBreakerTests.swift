import Testing

@testable import AlcedoRedisCache

struct CircuitBreakerTests {
    /// A reference, so that each step can be in an expectation.
    private final class Desk {
        private var breaker = CircuitBreaker(maximumFailureCount: 2, retryDelay: .seconds(5))
        func allowsCall(at seconds: Int) -> Bool { breaker.allowsCall(at: .seconds(seconds)) }
        func failed(at seconds: Int) { breaker.failed(at: .seconds(seconds)) }
        func succeeded() { breaker.succeeded() }
        func rejectsCall(at seconds: Int) -> Bool { breaker.rejectsCall(at: .seconds(seconds)) }
        var isOpen: Bool { breaker.isOpen }
    }

    private let breaker = Desk()

    @Test func `consecutive failures open the circuit, and others do not`() {
        breaker.failed(at: 0)
        breaker.succeeded()
        breaker.failed(at: 1)
        #expect(breaker.allowsCall(at: 1))
        breaker.failed(at: 2)
        #expect(!breaker.allowsCall(at: 2))
        #expect(!breaker.allowsCall(at: 6))
    }

    @Test func `after the delay one call probes the server, and the others follow its success`() {
        breaker.failed(at: 0)
        breaker.failed(at: 0)
        #expect(breaker.allowsCall(at: 5))
        #expect(!breaker.allowsCall(at: 5))
        breaker.succeeded()
        #expect(breaker.allowsCall(at: 5))
        #expect(breaker.allowsCall(at: 5))
    }

    @Test func `one failure after the delay opens the circuit again`() {
        breaker.failed(at: 0)
        breaker.failed(at: 0)
        #expect(breaker.allowsCall(at: 5))
        breaker.failed(at: 5)
        #expect(!breaker.allowsCall(at: 9))
        #expect(breaker.allowsCall(at: 10))
    }

    @Test func `a lookup does not take the turn of the call that probes`() {
        #expect(!breaker.rejectsCall(at: 0))
        #expect(!breaker.isOpen)
        breaker.failed(at: 0)
        breaker.failed(at: 0)
        #expect(breaker.rejectsCall(at: 4))
        #expect(!breaker.rejectsCall(at: 5))
        #expect(!breaker.rejectsCall(at: 5))
        #expect(breaker.allowsCall(at: 5))
        #expect(breaker.rejectsCall(at: 5))
        #expect(breaker.isOpen)
        breaker.succeeded()
        #expect(!breaker.rejectsCall(at: 5))
        #expect(!breaker.isOpen)
    }
}
