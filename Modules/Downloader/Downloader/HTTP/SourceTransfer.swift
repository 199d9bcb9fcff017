import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// Returns after a time, as ``TimeSource/sleep(for:)``.
typealias TransferPause = @Sendable (Duration) async throws -> Void

/// One content from one place: attempts, until one succeeds or no other may help. What has arrived is not asked for again
/// where the server allows that.
///
/// What few transfers need is in functions of its own: everything that an asynchronous function ever holds is in its
/// frame, and frames that are small enough cost nothing.
struct SourceTransfer<Sink: ContentSink> {
    private let http: PolicyTransport
    private let parts: PartStore?
    /// Gives numbers from 0 to 1.
    private let random: @Sendable () -> Double
    private let request: HTTPRequest
    /// Has the retry policy, where that is not the rules'.
    private let order: TransferRequest?
    private let pause: TransferPause
    private var meter: ProgressMeter
    private(set) var sink: Sink
    /// What the bytes in the sink are the beginning of; nil when they are of no use.
    private var content: UnfinishedContent?
    private var recorder: PartRecorder?
    private var isChecked = false
    /// Whether a part was of no use; a cache on the way might make parts of the next request too.
    private var avoidsParts = false

    init(
        _ http: PolicyTransport, _ request: HTTPRequest, _ order: TransferRequest?, parts: PartStore?,
        random: @escaping @Sendable () -> Double, sink: Sink, pause: TransferPause?,
        report: @escaping @Sendable (DownloadProgress) -> Void
    ) {
        self.order = order
        (self.http, self.request, self.parts, self.random, self.sink) = (http, request, parts, random, sink)
        self.pause = pause ?? { [clock = http.clock] in try await clock.sleep(for: $0) }
        meter = ProgressMeter(interval: http.rules.progressInterval, clock: http.clock, report: report)
    }

    private var rules: DownloadRules { http.rules }

    private var mayRetry: Bool { (order?.retry?.maximumAttempts ?? rules.retry.maximumAttempts) > 1 }

    /// - Throws: ``DownloadError``, or `CancellationError`.
    mutating func run() async throws -> SourceEnd {
        if mayRetry { rules.retryBudget.deposit(at: http.clock.uptime) }
        if parts != nil { try await restore() }
        var attempts = 0
        while true {
            do {
                let end = try await attempt()
                if recorder != nil { await recorder?.forget() }
                return end
            } catch {
                attempts += 1
                try await recover(from: error, attempts: attempts)
            }
        }
    }

    /// Returns when there may be another attempt.
    ///
    /// - Throws: Why there is none.
    private mutating func recover(from error: any Error, attempts: Int) async throws {
        let failure = Self.named(error)
        await settle(after: failure)
        guard let wait = waitingTime(after: failure, attempts: attempts) else { throw failure }
        try await pause(wait)
    }

    // MARK: Attempts

    private mutating func attempt() async throws -> SourceEnd {
        if content != nil, sink.count > 0, let end = try await goOn() { return end }
        return try await readAll(try await http.send(avoidsParts ? wholeRequest : request))
    }

    /// Asks for what is missing. Nil when the whole has to be asked for.
    private mutating func goOn() async throws -> SourceEnd? {
        guard let content else { return nil }
        let response = try await http.send(content.request(like: request, from: sink.count))
        switch content.continuation(from: sink.count, response.head) {
        case .rest(let total):
            recorder?.heed(response)
            let whole = content.head(completedBy: response.head, total: total)
            return try await read(response, head: try await http.accepted(whole), expected: total)
        case .another: return try await readAll(response)
        case .useless:
            response.body.cancel()
            await forgetContent()
            avoidsParts = true
            return nil
        }
    }

    /// The request that no cache on the way answers with a part.
    private var wholeRequest: HTTPRequest {
        var whole = request
        switch whole.cachePolicy {
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .reloadRevalidatingCacheData:
            whole.cachePolicy = .reloadIgnoringLocalCacheData
        // These do not read what is stored, or must not load.
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData, .returnCacheDataDontLoad: break
        }
        return whole
    }

    /// Takes an answer that has the content from its beginning.
    private mutating func readAll(_ response: HTTPResponse) async throws -> SourceEnd {
        let head = try await http.accepted(response.head)
        guard response.head.status != 206 || request.fields["Range"] != nil else { throw TransferFailure.part(head) }
        isChecked = false
        if content != nil || recorder != nil { await forgetContent() }
        if sink.count > 0 { try await sink.removeAll() }
        if rules.resume != nil, mayRetry || parts != nil { remember(response) }
        let expected = request.method == .head ? nil : response.head.declaredBodyLength
        return try await read(response, head: head, expected: expected)
    }

    private mutating func remember(_ response: HTTPResponse) {
        content = UnfinishedContent(of: request, head: response.head, now: http.clock.now)
        guard let content, let parts else { return }
        recorder = PartRecorder(parts, request: request, content: content)
        recorder?.heed(response)
    }

    private mutating func forgetContent() async {
        content = nil
        await recorder?.forget()
        recorder = nil
    }

    /// - Parameter expected: Bytes in all, those before included.
    private mutating func read(_ response: HTTPResponse, head: HTTPResponseHead, expected: Int?) async throws
        -> SourceEnd
    {
        let limit = rules.maximumByteCount
        if let expected, expected > limit { throw TransferFailure.declaredTooLarge(expected, limit, head) }
        meter.mark(DownloadProgress(received: sink.count, expected: expected))
        sink.reserve(expected ?? 0)
        for try await piece in response.body {
            guard piece.count <= limit - sink.count else { throw TransferFailure.tooLarge(limit, head) }
            try await sink.append(piece)
            if let expected, sink.count > expected { throw TransferFailure.tooMany(expected) }
            if !isChecked, sink.count >= ContentCheck.byteCount { try check(head) }
            if recorder != nil { await recorder?.append(piece) }
            meter.update(DownloadProgress(received: sink.count, expected: expected))
        }
        if let expected, sink.count != expected { throw TransferFailure.tooFew(sink.count, expected) }
        guard sink.count > 0 else { throw TransferFailure.empty(head) }
        if !isChecked { try check(head) }
        meter.mark(DownloadProgress(received: sink.count, expected: expected))
        return SourceEnd(head: head, caching: response.caching, transfer: response.transfer)
    }

    private mutating func check(_ head: HTTPResponseHead) throws(DownloadError) {
        isChecked = true
        // What is yet to be transformed does not look like anything.
        guard rules.transform == nil else { return }
        try rules.contentCheck?.verify(sink.beginning, head: head)
    }

    // MARK: After an attempt

    private static func named(_ error: any Error) -> any Error {
        switch error {
        case let error as HTTPTransportError where error.code == .badRedirect:
            DownloadError(.badRedirect, error.message, cause: error)
        case let error as HTTPTransportError: DownloadError(error)
        case is DownloadError, is CancellationError: error
        // Of a part of the app's own below, such as one that knows passwords.
        default: DownloadError(.hook, "the transport failed: \(error)", cause: error)
        }
    }

    /// Nil when there is no further attempt.
    private func waitingTime(after failure: any Error, attempts: Int) -> Duration? {
        let cause: RetryCause
        switch (failure as? DownloadError)?.code {
        case .status(let status)?:
            let fields = (failure as? DownloadError)?.head?.fields ?? HTTPFields()
            cause = .status(status, retryAfter: RetryAfter.delay(in: fields, now: http.clock.now))
        case .transport(let code)?: cause = .transport(code)
        default: return nil
        }
        let decision = (order?.retry ?? rules.retry).decide(
            after: cause, method: request.method, attempts: attempts, random: random())
        guard case .retry(let wait) = decision, rules.retryBudget.withdraw(at: http.clock.uptime) else { return nil }
        return wait
    }

    // MARK: Parts

    /// Fills the sink with what an earlier download has left.
    private mutating func restore() async throws {
        guard let parts, request.method == .get,
            let found = try await parts.restore(request, limit: rules.maximumByteCount, into: &sink)
        else { return }
        content = found.content
        recorder = PartRecorder(
            parts, request: request, content: found.content, pieceCount: found.pieceCount,
            offset: sink.count)
    }

    /// Keeps what has arrived, or drops it when it is no good.
    private mutating func settle(after failure: any Error) async {
        let isLasting = (failure as? DownloadError).map { FailureCache.isLasting($0.code) } ?? false
        if isLasting || sink.count > content?.total ?? .max { content = nil }
        guard let recorder else { return }
        let isUseful = content != nil
        // The task may be cancelled, and nothing would be kept then.
        self.recorder = await Task(executorPreference: http.taskExecutor) { [recorder] in
            var recorder = recorder
            if isUseful { await recorder.keepRest() } else { await recorder.forget() }
            return recorder
        }.value
    }
}

/// The errors of a transfer, made here so that what reads a body does not hold their parts.
private enum TransferFailure {
    @inline(never)
    static func part(_ head: HTTPResponseHead) -> any Error {
        DownloadError(.transport(.invalidResponse), "the server sends a part, and was asked for the whole", head: head)
    }

    @inline(never)
    static func declaredTooLarge(_ count: Int, _ limit: Int, _ head: HTTPResponseHead) -> any Error {
        DownloadError(.tooLarge, "the server declares \(count) bytes, more than \(limit)", head: head)
    }

    @inline(never)
    static func tooLarge(_ limit: Int, _ head: HTTPResponseHead) -> any Error {
        DownloadError(.tooLarge, "the content has more than \(limit) bytes", head: head)
    }

    @inline(never)
    static func tooMany(_ expected: Int) -> any Error {
        HTTPTransportError(.invalidResponse, "more than the \(expected) declared bytes have arrived")
    }

    @inline(never)
    static func tooFew(_ count: Int, _ expected: Int) -> any Error {
        HTTPTransportError(.connectionLost, "\(count) of \(expected) declared bytes have arrived")
    }

    @inline(never)
    static func empty(_ head: HTTPResponseHead) -> any Error {
        DownloadError(.empty, "there are no bytes", head: head)
    }
}
