import AlcedoCore

/// Follows the times of one transfer.
struct TransferClock: Sendable {
    private let enqueued = ContinuousClock.now
    private var started: ContinuousClock.Instant?
    private var lastActivity = ContinuousClock.now
    private var hasBytes = false
    /// The reader lags; silence is ours, not the server's.
    private var isPaused = false

    /// Time between the request and the start.
    var queued: Duration { (started ?? enqueued) - enqueued }

    mutating func start() {
        lastActivity = .now
        started = lastActivity
    }

    mutating func receivedBytes() {
        lastActivity = .now
        hasBytes = true
    }

    mutating func pause() { isPaused = true }

    mutating func goOn() {
        isPaused = false
        lastActivity = .now
    }

    /// The earliest of the deadlines; nil when none is running.
    func deadline(_ timeouts: CURLTimeouts) -> CURLDeadline? {
        guard let started else { return nil }
        var deadlines: [CURLDeadline] = []
        if !isPaused { deadlines.append(CURLDeadline(.idle, timeouts.idle, from: lastActivity)) }
        if !hasBytes, let timeout = timeouts.firstByte {
            deadlines.append(CURLDeadline(.firstByte, timeout, from: started))
        }
        if let timeout = timeouts.total { deadlines.append(CURLDeadline(.total, timeout, from: started)) }
        return deadlines.min { $0.time < $1.time }
    }
}
