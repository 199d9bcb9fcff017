import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
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
    private let write: @Sendable (String) -> Void

    init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

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
        write("\(report)")
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

    /// Tells of the exchange when its transport has ended it, and so measured it.
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

/// What is told of one exchange with a server.
struct TransferReport: Sendable, CustomStringConvertible {
    enum End: Sendable {
        case complete
        /// Nobody wanted the rest of the answer, such as the text of an error.
        case abandoned
        case failed(any Error)
    }

    let url: URL
    let attempt: Int
    /// Where in the content the request wants to go on; nil for one that wants all.
    private let offset: Int?
    /// The address as it may be shown.
    private let argument: ImageArgument
    private let start = ContinuousClock.now
    /// When the head came, from the start.
    private var headTime: Duration?
    private var head: HTTPResponseHead?
    private var metrics: HTTPTransferMetrics?
    private var end: (End, Duration)?
    var byteCount = 0

    init(_ request: HTTPRequest, attempt: Int) {
        url = request.url
        argument = ImageArgument(url.absoluteString)
        self.attempt = attempt
        offset = Self.offset(of: request)
    }

    mutating func received(_ head: HTTPResponseHead) {
        self.head = head
        headTime = ContinuousClock.now - start
    }

    mutating func finish(_ end: End, _ metrics: HTTPTransferMetrics?) {
        self.end = (end, ContinuousClock.now - start)
        self.metrics = metrics
    }

    /// Whether the next exchange of the same address is no repetition of this one.
    var wentWell: Bool {
        guard case .complete? = end?.0, let head else { return false }
        return head.status < 400
    }

    var isResumed: Bool { offset != nil && head?.status == 206 }

    var description: String {
        var words = ["\(argument.name): \(head.map { "\($0.status)" } ?? "no answer")", "\(byteCount) bytes"]
        words.append("look-up \(Self.text(metrics?.nameLookup))")
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
        case .failed(let error)? where error is CancellationError: words.append("cancelled")
        case .failed(let error)?: words.append("failed: \(argument.withoutPassword("\(error)"))")
        case .abandoned?: words.append("rest not read")
        case .complete?, nil: break
        }
        return words.joined(separator: ", ")
    }

    /// The downloader goes on with a range and a condition, as nobody else here does.
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
