import AlcedoCore

/// Follows the times of one transfer.
struct TransferClock: Sendable {
    private let enqueued: ContinuousClock.Instant
    private let started = ContinuousClock.now
    private var lastActivity: ContinuousClock.Instant
    /// The final answer's: interim ones may come without end.
    private var hasHead = false
    /// The reader lags; silence is ours, not the server's.
    private var isPaused = false

    /// Starts it.
    init(enqueued: ContinuousClock.Instant) {
        self.enqueued = enqueued
        lastActivity = started
    }

    /// Time between the request and the start.
    var queued: Duration { started - enqueued }

    mutating func receivedBytes() {
        lastActivity = .now
    }

    mutating func receivedHead() { hasHead = true }

    mutating func pause() { isPaused = true }

    mutating func goOn() {
        isPaused = false
        lastActivity = .now
    }

    /// The earliest of the deadlines; nil when none is running.
    func deadline(_ timeouts: CURLTimeouts) -> CURLDeadline? {
        var earliest = isPaused ? nil : CURLDeadline(.idle, timeouts.idle, from: lastActivity)
        func note(_ deadline: CURLDeadline) {
            if deadline.time < earliest?.time ?? deadline.time.advanced(by: .nanoseconds(1)) { earliest = deadline }
        }
        if !hasHead, let timeout = timeouts.firstByte { note(CURLDeadline(.firstByte, timeout, from: started)) }
        if let timeout = timeouts.total { note(CURLDeadline(.total, timeout, from: started)) }
        return earliest
    }
}
