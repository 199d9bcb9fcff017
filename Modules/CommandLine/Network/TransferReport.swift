import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
import FoundationEssentials

/// What is told of one exchange with a server.
struct TransferReport: Sendable, CustomStringConvertible {
    enum End: Sendable {
        case whole
        /// Nobody wanted the rest of the answer, such as the text of an error.
        case left
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
        guard case .whole? = end?.0, let head else { return false }
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
        case .left?: words.append("rest not read")
        case .whole?, nil: break
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
