import AlcedoCore
import AlcedoHTTP
import Testing

@testable import AlcedoDownloader

@Suite struct RetryPolicyTests {
    private static let patch = HTTPMethod(rawValue: "PATCH")

    @Test(arguments: [
        (RetryCause.status(408, retryAfter: nil), true), (.status(425, retryAfter: nil), true),
        (.status(429, retryAfter: nil), true), (.status(500, retryAfter: nil), true),
        (.status(502, retryAfter: nil), true), (.status(503, retryAfter: nil), true),
        (.status(504, retryAfter: nil), true), (.status(400, retryAfter: nil), false),
        (.status(401, retryAfter: nil), false), (.status(403, retryAfter: nil), false),
        (.status(404, retryAfter: nil), false), (.status(410, retryAfter: .seconds(1)), false),
        (.status(501, retryAfter: nil), false), (.status(505, retryAfter: nil), false),
        (.transport(.timedOut), true), (.transport(.connectionLost), true),
    ])
    func `transient failures are retried for idempotent methods`(cause: RetryCause, isRepeated: Bool) {
        let policy = RetryPolicy()
        for name in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"] {
            #expect(policy.mayRepeat(HTTPMethod(rawValue: name), after: cause) == isRepeated)
        }
        for method in [HTTPMethod.post, Self.patch, HTTPMethod(rawValue: "get")] {
            #expect(!policy.mayRepeat(method, after: cause))
        }
    }

    @Test(arguments: [
        (HTTPTransportError.Code.cannotResolveHost, true), (.cannotConnect, true), (.secureConnectionFailed, false),
        (.invalidRequest, false), (.invalidResponse, false), (.bodyTooLarge, false), (.notCached, false),
        (.shutDown, false), (.failed, false),
    ])
    func `a request that did not reach the server is retried for any method`(
        code: HTTPTransportError.Code, isRepeated: Bool
    ) {
        for method in [HTTPMethod.get, .put, .post, Self.patch] {
            #expect(RetryPolicy().mayRepeat(method, after: .transport(code)) == isRepeated)
        }
    }

    @Test(arguments: [HTTPMethod.get, .post])
    func `a request without a network is repeated if the policy waits for the network`(method: HTTPMethod) {
        let waiting = RetryPolicy(maximumNetworkWait: .seconds(1))
        #expect(waiting.mayRepeat(method, after: .transport(.offline)))
        #expect(!waiting.mayRepeat(method, after: .transport(.dataNotAllowed)))
        #expect(!RetryPolicy().mayRepeat(method, after: .transport(.offline)))
        #expect(RetryPolicy(maximumNetworkWait: .seconds(-1)) == RetryPolicy())
    }

    @Test func `the number of attempts is limited`() {
        let cause = RetryCause.transport(.timedOut)
        let waits = (1...4).map {
            RetryPolicy(maximumAttempts: 3).decide(after: cause, method: .get, attempts: $0, random: 1)
        }
        #expect(waits == [.retry(after: .milliseconds(500)), .retry(after: .seconds(1)), .giveUp, .giveUp])
        #expect(RetryPolicy.never.decide(after: cause, method: .get, attempts: 1, random: 0) == .giveUp)
        #expect(RetryPolicy(maximumAttempts: -1).maximumAttempts == 1)
    }

    @Test func `the range of the delay doubles up to its cap`() {
        let policy = RetryPolicy(maximumAttempts: .max, baseDelay: .milliseconds(500), maximumDelay: .seconds(30))
        let seconds = [0.5, 1, 2, 4, 8, 16, 30, 30]
        for (index, longest) in seconds.enumerated() {
            for random in [0, 0.25, 1] {
                let decision = policy.decide(
                    after: .transport(.timedOut), method: .get, attempts: index + 1, random: random)
                #expect(decision == .retry(after: .seconds(longest) * random))
            }
        }
    }

    @Test func `a policy with invalid numbers retries without delay`() {
        let policy = RetryPolicy(
            maximumAttempts: .max, baseDelay: .seconds(Int64.max), maximumDelay: .seconds(Int64.max))
        let decision = policy.decide(after: .transport(.timedOut), method: .get, attempts: .max - 1, random: 0)
        #expect(decision == .retry(after: .zero))
        let small = RetryPolicy(
            maximumAttempts: .max, baseDelay: .seconds(-1), maximumDelay: .seconds(-1), maximumRetryAfter: .seconds(-1))
        for random in [-1, 2, Double.nan, .infinity] {
            let decision = small.decide(
                after: .status(503, retryAfter: .seconds(-3)), method: .get, attempts: 1_000_000, random: random)
            #expect(decision == .retry(after: .zero))
        }
    }

    @Test(arguments: [(0.0, 0.0), (7, 7), (60, 60), (61, 60), (1_000_000, 60)])
    func `Retry-After is respected up to a cap, and the jitter is shorter than a backoff`(
        delay: Double, wait: Double
    ) {
        let policy = RetryPolicy(maximumAttempts: 9)
        for (random, extra) in [(0.0, 0.0), (1.0, 0.5)] {
            let decision = policy.decide(
                after: .status(503, retryAfter: .seconds(delay)), method: .get, attempts: 5, random: random)
            #expect(decision == .retry(after: .seconds(wait + extra)))
        }
    }

    @Test func `the rule for retryable errors is configurable`() {
        var policy = RetryPolicy()
        policy.statuses = [418]
        policy.repeatableMethods = [.post]
        #expect(policy.mayRepeat(.post, after: .status(418, retryAfter: nil)))
        #expect(!policy.mayRepeat(.get, after: .status(418, retryAfter: nil)))
        #expect(!policy.mayRepeat(.post, after: .status(503, retryAfter: nil)))
    }
}
