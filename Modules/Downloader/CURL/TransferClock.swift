import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

/// A clock for the timeouts of one transfer.
struct TransferClock: Sendable {
    private let enqueued: ContinuousClock.Instant
    private let started = ContinuousClock.now
    private var lastActivity: ContinuousClock.Instant
    /// Whether the final head has arrived. Interim responses do not count, because a server could send any number of
    /// them.
    private var hasHead = false
    /// Whether the transfer is paused for a slow reader. The idle timeout does not apply in this state.
    private var isPaused = false

    /// Creates and starts a clock.
    init(enqueued: ContinuousClock.Instant) {
        self.enqueued = enqueued
        lastActivity = started
    }

    /// The time from the creation of the exchange to the start of the transfer.
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

    /// Returns the earliest deadline; nil if no timeout applies.
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

struct CURLTimeouts: Sendable {
    let idle: Duration
    let firstByte: Duration?
    let total: Duration?

    init(_ request: HTTPRequest) {
        idle = min(request.idleTimeout, Self.longest)
        firstByte = request.firstByteTimeout.map { min($0, Self.longest) }
        total = request.totalTimeout.map { min($0, Self.longest) }
    }

    /// The maximum timeout, about four years. The limit prevents an overflow when a timeout is added to an instant.
    private static let longest = Duration.seconds(1 << 27)
}

/// The time at which a transfer times out, and the timeout that causes it.
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

    /// Whether the deadline means a silent server: true for the idle and first-byte timeouts, false for the total
    /// timeout.
    var isSilence: Bool { kind != .total }

    /// Returns the message of the timeout error.
    ///
    /// - Parameter origin: The scheme, host and port of the server.
    func message(origin: String) -> String {
        let seconds = Double(timeout.milliseconds) / 1000
        return switch kind {
        case .idle: "no data from \(origin) for \(seconds) seconds"
        case .firstByte: "no response from \(origin) within \(seconds) seconds"
        case .total: "the transfer from \(origin) took longer than \(seconds) seconds"
        }
    }
}
