import Alcedo
import FoundationEssentials

/// Tells of each exchange with a server, as it ends, in one line.
final class TransferLog: Sendable {
    private struct State: Sendable {
        /// Exchanges of an address since one went well.
        var attempts: [URL: Int] = [:]
        var exchanges = 0
        var repeated = 0
        var resumed = 0
        var byteCount = 0
    }

    private let state = Locked(State())
    private let tell: @Sendable (String) -> Void

    init(_ tell: @escaping @Sendable (String) -> Void) { self.tell = tell }

    /// The transport, with this log around it.
    func watching(_ transport: any HTTPTransport) -> any HTTPTransport {
        WatchedTransport(transport: transport, log: self)
    }

    /// Counts an exchange that begins. The first attempt since the address answered well is 1.
    func begin(_ request: HTTPRequest) -> TransferReport {
        let attempt = state.withLock { state in
            let attempt = state.attempts[request.url, default: 0] + 1
            state.attempts[request.url] = attempt
            state.exchanges += 1
            return attempt
        }
        return TransferReport(request, attempt: attempt)
    }

    func end(_ report: TransferReport) {
        state.withLock { state in
            if report.wentWell { state.attempts[report.url] = nil }
            if report.attempt > 1 { state.repeated += 1 }
            if report.isResumed { state.resumed += 1 }
            state.byteCount += report.byteCount
        }
        tell("\(report)")
    }

    /// What all exchanges together were.
    var summary: String {
        let state = state.withLock { $0 }
        return "exchanges: \(state.exchanges), \(state.byteCount) bytes, \(state.repeated) repeated, "
            + "\(state.resumed) resumed"
    }
}
