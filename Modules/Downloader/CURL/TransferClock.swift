import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

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

    mutating func resume() {
        isPaused = false
        lastActivity = .now
    }

    /// The earliest of the deadlines; nil when none is running.
    func deadline(_ timeouts: CURLTimeouts) -> CURLDeadline? {
        var earliest = isPaused ? nil : CURLDeadline(.idle, timeouts.idle, from: lastActivity)
        func consider(_ deadline: CURLDeadline) {
            if deadline.time < earliest?.time ?? deadline.time.advanced(by: .nanoseconds(1)) { earliest = deadline }
        }
        if !hasHead, let timeout = timeouts.firstByte { consider(CURLDeadline(.firstByte, timeout, from: started)) }
        if let timeout = timeouts.total { consider(CURLDeadline(.total, timeout, from: started)) }
        return earliest
    }
}

/// How long a transfer may take, in its parts.
struct CURLTimeouts: Sendable {
    let idle: Duration
    let firstByte: Duration?
    let total: Duration?

    init(_ request: HTTPRequest) {
        idle = min(request.idleTimeout, Self.longest)
        firstByte = request.firstByteTimeout.map { min($0, Self.longest) }
        total = request.totalTimeout.map { min($0, Self.longest) }
    }

    /// Four years: what is longer would not fit into an instant.
    private static let longest = Duration.seconds(1 << 27)
}

/// When a transfer has taken too long, and by which of its timeouts.
struct CURLDeadline {
    enum Kind {
        case idle, firstByte, total
    }

    let time: ContinuousClock.Instant
    private let kind: Kind
    private let timeout: Duration

    init(_ kind: Kind, _ timeout: Duration, from start: ContinuousClock.Instant) {
        self.kind = kind
        self.timeout = timeout
        time = start + timeout
    }

    /// Whether it means that nothing came.
    var isSilence: Bool { kind != .total }

    var message: String {
        let seconds = Double(timeout.milliseconds) / 1000
        return switch kind {
        case .idle: "the server was silent for \(seconds) seconds"
        case .firstByte: "no answer began within \(seconds) seconds"
        case .total: "the transfer took more than \(seconds) seconds"
        }
    }
}
