/// Decides whether a server that fails is asked again. Decides only: it knows neither threads nor clocks.
///
/// After a number of failures in a row nobody asks for a while; then one may, and the others when that one was answered.
struct CircuitBreaker: Sendable {
    private let failureLimit: Int
    private let restTime: Duration
    private var failures = 0
    private var openUntil: Duration?
    private var isTrying = false

    init(failureLimit: Int, restTime: Duration) {
        self.failureLimit = failureLimit
        self.restTime = restTime
    }

    /// - Parameter now: Never goes back.
    mutating func mayAsk(at now: Duration) -> Bool {
        guard let openUntil else { return true }
        guard now >= openUntil, !isTrying else { return false }
        isTrying = true
        return true
    }

    /// To be told when one that might ask did not: the next may.
    mutating func gaveUp() { isTrying = false }

    mutating func succeeded() { (failures, openUntil, isTrying) = (0, nil, false) }

    mutating func failed(at now: Duration) {
        failures += 1
        isTrying = false
        if failures >= failureLimit { openUntil = now + restTime }
    }
}
