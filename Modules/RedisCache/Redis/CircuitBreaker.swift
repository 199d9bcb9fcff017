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

    /// Whether the last answers failed, and none has come since.
    var isOpen: Bool { openUntil != nil }

    /// Whether ``mayAsk(at:)`` would say no. Changes nothing, so that it may be asked by who only waits for a turn.
    func refuses(at now: Duration) -> Bool {
        guard let openUntil else { return false }
        return now < openUntil || isTrying
    }

    /// To be asked when all else is ready: who may ask does, and tells how it went.
    ///
    /// - Parameter now: Never goes back.
    mutating func mayAsk(at now: Duration) -> Bool {
        guard !refuses(at: now) else { return false }
        isTrying = isOpen
        return true
    }

    mutating func succeeded() { (failures, openUntil, isTrying) = (0, nil, false) }

    mutating func failed(at now: Duration) {
        failures += 1
        isTrying = false
        if failures >= failureLimit { openUntil = now + restTime }
    }
}
