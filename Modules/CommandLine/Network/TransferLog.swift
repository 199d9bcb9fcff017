import Alcedo
import AlcedoHTTP
import AlcedoRuntime
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

/// Sends requests through another transport and reports each exchange to a log, as it ends.
private struct WatchedTransport: HTTPTransport {
    let transport: any HTTPTransport
    let log: TransferLog

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var report = log.begin(request)
        do {
            var response = try await transport.send(request)
            report.received(response.head)
            response.body = HTTPBody(WatchedBody(response, report, log))
            return response
        } catch {
            report.finish(.failed(error), (error as? HTTPTransportError)?.metrics)
            log.end(report)
            throw error
        }
    }
}

/// Passes a body on as it arrives, at its reader's pace, and reports the exchange when it has ended.
private final class WatchedBody: HTTPBodySource {
    private let body: HTTPBody
    private let transfer: HTTPTransferRecord?
    private let log: TransferLog
    /// nil when it has been told.
    private let report: Locked<TransferReport?>

    init(_ response: HTTPResponse, _ report: TransferReport, _ log: TransferLog) {
        (body, transfer, self.log) = (response.body, response.transfer, log)
        self.report = Locked(report)
    }

    func next() async throws -> Data? {
        // The iterator has no state of its own: all of them read on from the same place.
        var iterator = body.makeAsyncIterator()
        do {
            guard let piece = try await iterator.next() else {
                finish(.whole)
                return nil
            }
            report.withLock { $0?.byteCount += piece.count }
            return piece
        } catch {
            finish(.failed(error))
            throw error
        }
    }

    /// Tells of the exchange when its transport has ended it, and so measured it.
    func cancel() {
        body.cancel()
        finish(.left)
    }

    private func finish(_ end: TransferReport.End) {
        guard var report = report.withLock({ $0.take() }) else { return }
        report.finish(end, transfer?.metrics)
        log.end(report)
    }
}
