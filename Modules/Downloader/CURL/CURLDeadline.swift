import AlcedoCore

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
