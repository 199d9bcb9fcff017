import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

/// A log that writes one line for each exchange with a server when the exchange ends.
final class TransferLog: Sendable {
    private struct State: Sendable {
        /// The number of exchanges of each URL since its last success.
        var attempts: [URL: Int] = [:]
        var exchanges = 0
        var repeated = 0
        var resumed = 0
        var byteCount = 0
    }

    private let state = Locked(State())
    private let clock: any TimeSource
    private let write: @Sendable (String) -> Void

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - clock: The clock that measures the exchanges. Default: the system's clock.
    ///   - write: Called with each line.
    init(clock: any TimeSource = SystemClock(), _ write: @escaping @Sendable (String) -> Void) {
        self.clock = clock
        self.write = write
    }

    /// Returns a transport that sends requests through another one and records them in this log.
    func watching(_ transport: any HTTPTransport) -> any HTTPTransport {
        WatchedTransport(transport: transport, log: self)
    }

    /// Records the start of an exchange and returns its report. The first attempt after a success has the number 1.
    func begin(_ request: HTTPRequest) -> TransferReport {
        let attempt = state.withLock { state in
            let attempt = state.attempts[request.url, default: 0] + 1
            state.attempts[request.url] = attempt
            state.exchanges += 1
            return attempt
        }
        return TransferReport(request, attempt: attempt, clock: clock)
    }

    func end(_ report: TransferReport) {
        state.withLock { state in
            if report.wentWell { state.attempts[report.url] = nil }
            if report.attempt > 1 { state.repeated += 1 }
            if report.isResumed { state.resumed += 1 }
            state.byteCount += report.byteCount
        }
        write("\(report)")
    }

    /// The totals of all exchanges, as one line.
    var summary: String {
        let state = state.withLock { $0 }
        return "exchanges: \(state.exchanges), \(state.byteCount) bytes, \(state.repeated) retried, "
            + "\(state.resumed) resumed"
    }
}

/// A transport that sends requests through another transport and records each exchange in a log when it ends.
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

/// A body that passes on another body at its reader's pace, and records the exchange when the body ends.
private final class WatchedBody: HTTPBodySource {
    private let body: HTTPBody
    private let transfer: HTTPTransferRecord?
    private let log: TransferLog
    /// The report, or nil after it was logged.
    private let report: Locked<TransferReport?>

    init(_ response: HTTPResponse, _ report: TransferReport, _ log: TransferLog) {
        (body, transfer, self.log) = (response.body, response.transfer, log)
        self.report = Locked(report)
    }

    func next() async throws -> Data? {
        // The iterator has no state of its own: all iterators read from the same position.
        var iterator = body.makeAsyncIterator()
        do {
            guard let piece = try await iterator.next() else {
                finish(.complete)
                return nil
            }
            report.withLock { $0?.byteCount += piece.count }
            return piece
        } catch {
            finish(.failed(error))
            throw error
        }
    }

    /// Cancels the body and records the exchange. The transport sets the metrics while it cancels, so the record comes
    /// after.
    func cancel() {
        body.cancel()
        finish(.abandoned)
    }

    private func finish(_ end: TransferReport.End) {
        guard var report = report.withLock({ $0.take() }) else { return }
        report.finish(end, transfer?.metrics)
        log.end(report)
    }
}

/// The record of one exchange with a server.
struct TransferReport: Sendable, CustomStringConvertible {
    enum End: Sendable {
        case complete
        /// The reader canceled the rest of the response, for example the body of an error.
        case abandoned
        case failed(any Error)
    }

    let url: URL
    let attempt: Int
    /// The byte offset at which the request resumes a download, or nil for a request of the whole content.
    private let offset: Int?
    /// The URL in printable form, without a password.
    private let argument: ImageArgument
    private let clock: any TimeSource
    private let start: Duration
    /// The time from the start until the response head arrived.
    private var headTime: Duration?
    private var head: HTTPResponseHead?
    private var metrics: HTTPTransferMetrics?
    private var end: (End, Duration)?
    var byteCount = 0

    init(_ request: HTTPRequest, attempt: Int, clock: any TimeSource) {
        self.clock = clock
        start = clock.uptime
        url = request.url
        argument = ImageArgument(url.absoluteString)
        self.attempt = attempt
        offset = Self.offset(of: request)
    }

    mutating func received(_ head: HTTPResponseHead) {
        self.head = head
        headTime = clock.uptime - start
    }

    mutating func finish(_ end: End, _ metrics: HTTPTransferMetrics?) {
        self.end = (end, clock.uptime - start)
        self.metrics = metrics
    }

    /// Whether the exchange completed with a status below 400. A later exchange of the same URL is then not a retry.
    var wentWell: Bool {
        guard case .complete? = end?.0, let head else { return false }
        return head.status < 400
    }

    var isResumed: Bool { offset != nil && head?.status == 206 }

    var description: String {
        var words = ["\(argument.name): \(head.map { "\($0.status)" } ?? "no response")", "\(byteCount) bytes"]
        words.append("DNS \(Self.text(metrics?.nameLookup))")
        words.append("connect \(Self.text(metrics?.connect))")
        words.append("TLS \(Self.text(metrics?.secureConnect))")
        words.append("first byte \(Self.text(metrics?.firstByte ?? headTime))")
        words.append("total \(Self.text(metrics?.total ?? end?.1))")
        words.append(metrics?.isReusedConnection.map { $0 ? "reused connection" : "new connection" } ?? "connection -")
        words.append(metrics?.protocolName ?? "protocol -")
        words.append("attempt \(attempt)")
        if let offset {
            words.append(isResumed ? "resumed from byte \(offset)" : "not resumed from byte \(offset)")
        }
        words.append("cache \(head?.fields["Cache-Status"] ?? "-")")
        switch end?.0 {
        case .failed(let error)? where error is CancellationError: words.append("canceled")
        case .failed(let error)?: words.append("failed: \(argument.withoutPassword("\(error)"))")
        case .abandoned?: words.append("body not fully read")
        case .complete?, nil: break
        }
        return words.joined(separator: ", ")
    }

    /// Returns the offset at which a request resumes, or nil if it does not resume. Only the downloader's resumed
    /// requests have both `Range` and `If-Range`.
    private static func offset(of request: HTTPRequest) -> Int? {
        guard request.fields["If-Range"] != nil, let range = request.fields["Range"], range.hasPrefix("bytes=") else {
            return nil
        }
        return Int(range.dropFirst("bytes=".count).prefix { $0 != "-" })
    }

    private static func text(_ duration: Duration?) -> String {
        guard let duration else { return "-" }
        let tenths = Int((duration / .milliseconds(1) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
