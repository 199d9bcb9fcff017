import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// The pauses of a transfer between its attempts.
struct TransferPause: Sendable {
    typealias Pause = @Sendable (_ duration: Duration, _ network: NetworkWait?) async throws -> Bool

    /// A closure that returns after a duration, like ``/AlcedoCore/TimeSource/sleep(for:)``, and after the wait for the
    /// network, if there is one. Returns whether the network is available, true without a wait. If it is not, the
    /// transfer may have no slot, and calls ``regainSlot`` before it sends another request.
    let run: Pause
    /// A closure that returns when the transfer has a slot.
    let regainSlot: @Sendable () async throws -> Void

    /// Creates pauses, by default of a transfer that needs no slot.
    init(_ run: @escaping Pause, regainingSlot: @escaping @Sendable () async throws -> Void = {}) {
        (self.run, regainSlot) = (run, regainingSlot)
    }
}

/// A download from one URL. A failed attempt is repeated if the failure, the retry policy and the retry budget allow
/// it. If the content can be resumed, the next attempt requests only the missing bytes.
///
/// Rare paths are outlined to keep async frames small: a frame holds every value that its function ever needs across a
/// suspension, and small frames cost almost nothing.
struct SourceTransfer<Sink: ContentSink> {
    private let http: PolicyTransport
    private let partialContents: PartialContentStore?
    /// A closure that returns a number from 0 to 1.
    private let random: @Sendable () -> Double
    private let first: HTTPRequest
    /// The request of later attempts; nil for the first one.
    private var renewed: RenewedRequest?
    /// A closure that returns the request for a further attempt; nil sends the same request again.
    private let renewal: HTTPFetcher.Renewal?
    private let retry: RetryPolicy
    private let pause: TransferPause
    private var meter: ProgressMeter
    private(set) var sink: Sink
    /// The partial content in the sink; nil if it cannot be resumed.
    private var content: PartialContent?
    private var recorder: PartialContentRecorder?
    private var isChecked = false
    /// Whether a response to a request for the missing bytes was unusable. Later requests for all bytes then bypass
    /// local caches, which might return a part again.
    private var avoidsPartialResponses = false

    init(
        _ http: PolicyTransport, _ request: HTTPRequest, renewal: HTTPFetcher.Renewal?, retry: RetryPolicy?,
        partialContents: PartialContentStore?, random: @escaping @Sendable () -> Double, sink: Sink,
        pause: TransferPause?, report: @escaping @Sendable (DownloadProgress) -> Void
    ) {
        (self.renewal, self.retry) = (renewal, retry ?? http.configuration.retry)
        self.partialContents = partialContents
        (self.http, first, self.random, self.sink) = (http, request, random, sink)
        self.pause =
            pause
            ?? TransferPause { [clock = http.clock] duration, network in
                try await clock.sleep(for: duration)
                return try await network?.run() ?? true
            }
        meter = ProgressMeter(interval: http.configuration.progressInterval, clock: http.clock, report: report)
    }

    private var request: HTTPRequest { renewed?.request ?? first }

    private var mayRetry: Bool { retry.maximumAttempts > 1 }

    /// Performs the download.
    ///
    /// - Throws: ``DownloadError``, or `CancellationError`.
    mutating func run() async throws -> TransferSummary {
        if mayRetry { http.configuration.retryBudget?.deposit(at: http.clock.uptime) }
        if partialContents != nil { try await restore() }
        var attempts = 0
        while true {
            do {
                let summary = ActiveSpan.current == nil ? try await attempt() : try await tracedAttempt()
                if recorder != nil { await recorder?.removeAll() }
                return summary
            } catch {
                attempts += 1
                try await recover(from: error, attempts: attempts)
            }
        }
    }

    /// Updates the stored partial content, then waits until the next attempt may begin.
    ///
    /// - Throws: The failure if there is no further attempt, or `CancellationError`.
    private mutating func recover(from error: any Error, attempts: Int) async throws {
        var failure = Self.downloadError(error)
        // The other error is CancellationError, which is of no request.
        if renewed != nil, var error = failure as? DownloadError {
            error.isOfRenewedRequest = true
            failure = error
        }
        await keepPartialContent(after: failure)
        guard let wait = waitingTime(after: failure, attempts: attempts) else { throw failure }
        guard try await pause.run(wait, networkWait(after: failure)) else { throw failure }
        if let renewal { try await renew(renewal) }
    }

    /// Replaces the request for the next attempt. A part that was received for another request is not continued,
    /// because it may belong to another user.
    ///
    /// - Throws: ``DownloadError`` if the modifiers fail, or `CancellationError`.
    private mutating func renew(_ renewal: HTTPFetcher.Renewal) async throws {
        let next = try await ConfigurationHook.run("the request modifier") { try await renewal() }
        guard next != request else { return }
        renewed = RenewedRequest(next)
        await removePartialContent()
    }

    // MARK: Attempts

    /// Performs an attempt as a step of the load. A function of its own, so that the async frames of other transfers
    /// stay small.
    private mutating func tracedAttempt() async throws -> TransferSummary {
        try await LoadSpan.run(.transfer) { try await attempt() }
    }

    private mutating func attempt() async throws -> TransferSummary {
        if content != nil, sink.count > 0, let summary = try await resume() { return summary }
        return try await readAll(try await http.send(avoidsPartialResponses ? wholeRequest : request))
    }

    /// Requests the missing bytes. Returns nil if all bytes must be requested again.
    private mutating func resume() async throws -> TransferSummary? {
        guard let content else { return nil }
        let response = try await http.send(content.request(like: request, from: sink.count))
        switch content.continuation(from: sink.count, response.head) {
        case .remainder(let total):
            recorder?.apply(response)
            let whole = content.head(completedBy: response.head, total: total)
            return try await read(response, head: try await http.accepted(whole), expected: total)
        case .newResponse: return try await readAll(response)
        case .unusable:
            response.body.cancel()
            await removePartialContent()
            avoidsPartialResponses = true
            return nil
        }
    }

    /// The request with a cache policy that bypasses local caches. A policy that forbids loading is kept.
    private var wholeRequest: HTTPRequest {
        var whole = request
        switch whole.cachePolicy {
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .reloadRevalidatingCacheData:
            whole.cachePolicy = .reloadIgnoringLocalCacheData
        // These policies do not read stored responses, or must not load.
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData, .returnCacheDataDontLoad: break
        }
        return whole
    }

    /// Replaces the content of the sink with the body of a response.
    private mutating func readAll(_ response: HTTPResponse) async throws -> TransferSummary {
        let head = try await http.accepted(response.head)
        let whole = response.head.status == 206 ? wholeLength(response.head) : nil
        guard response.head.status != 206 || whole != nil || isRequested(response.head) else {
            throw TransferFailure.part(head)
        }
        isChecked = false
        if content != nil || recorder != nil { await removePartialContent() }
        if sink.count > 0 { try await sink.removeAll() }
        if http.configuration.resume != nil, mayRetry || partialContents != nil { prepareResuming(response) }
        // The range counts the bytes as they are encoded.
        let decoded = response.head.fields["Content-Encoding"] == nil ? whole : nil
        let expected = request.method == .head ? nil : response.head.declaredBodyLength ?? decoded
        return try await read(response, head: head, expected: expected)
    }

    /// Returns the number of bytes of a partial response that covers the whole content, as some servers send it for
    /// requests without a range. Returns nil if the response does not say so, or contradicts itself.
    private func wholeLength(_ head: HTTPResponseHead) -> Int? {
        let ranges = head.fields.values(of: "Content-Range")
        guard ranges.count == 1, let range = ContentRange(ranges[0]), range.bytes.lowerBound == 0,
            range.completeCount == range.bytes.upperBound,
            head.declaredBodyLength ?? range.bytes.count == range.bytes.count
        else { return nil }
        return range.bytes.count
    }

    /// Whether a partial response begins where the request's own range begins. The beginning of several ranges, and of
    /// a range at the end, is not known.
    private func isRequested(_ head: HTTPResponseHead) -> Bool {
        guard let field = request.fields["Range"] else { return false }
        guard case .from(let first, _)? = ByteRange(field) else { return true }
        return head.fields["Content-Range"].flatMap { ContentRange($0) }?.bytes.lowerBound == first
    }

    private mutating func prepareResuming(_ response: HTTPResponse) {
        content = PartialContent(of: request, head: response.head, now: http.clock.now)
        // Content that no request may share is not kept, not even in part.
        guard let content, let partialContents,
            response.varyingFields.asSeen(from: first, sending: request) != .everything
        else { return }
        recorder = PartialContentRecorder(partialContents, request: request, content: content)
        recorder?.apply(response)
    }

    private mutating func removePartialContent() async {
        content = nil
        await recorder?.removeAll()
        recorder = nil
    }

    /// Reads the body of a response into the sink.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - head: The head of the whole content.
    ///   - expected: The total number of bytes, including those that are in the sink already; nil if unknown.
    private mutating func read(_ response: HTTPResponse, head: HTTPResponseHead, expected: Int?) async throws
        -> TransferSummary
    {
        let limit = http.configuration.maximumByteCount
        if let expected, expected > limit { throw TransferFailure.declaredTooLarge(expected, limit, head) }
        meter.mark(DownloadProgress(received: sink.count, expected: expected))
        sink.reserve(expected ?? 0)
        for try await piece in response.body {
            guard piece.count <= limit - sink.count else { throw TransferFailure.tooLarge(limit, head) }
            try await sink.append(piece)
            if let expected, sink.count > expected { throw TransferFailure.tooMany(expected, head) }
            if !isChecked, sink.count >= CodecRegistry.sniffedByteCount { try check(head, response.caching) }
            if recorder != nil { await recorder?.append(piece) }
            meter.update(DownloadProgress(received: sink.count, expected: expected))
        }
        if let expected, sink.count != expected { throw TransferFailure.tooFew(sink.count, expected, head) }
        guard sink.count > 0 else { throw TransferFailure.empty(head, response.caching) }
        if !isChecked { try check(head, response.caching) }
        meter.mark(DownloadProgress(received: sink.count, expected: expected))
        return TransferSummary(
            head: head, caching: response.caching, transfer: response.transfer, varyingFields: varyingFields(response))
    }

    /// Returns the request fields by which the content varies. The content may consist of two responses.
    private func varyingFields(_ response: HTTPResponse) -> VaryingFields {
        let fields = response.varyingFields.asSeen(from: first, sending: request)
        guard let content else { return fields }
        return fields.union(VaryingFields(of: content.head.fields))
    }

    private mutating func check(_ head: HTTPResponseHead, _ caching: ResponseCaching?) throws(DownloadError) {
        isChecked = true
        // The expected format applies to the result of the transform.
        guard http.configuration.transform == nil else { return }
        do {
            try http.configuration.checkContent(sink.beginning, head: head)
        } catch {
            throw error.rejecting(caching)
        }
    }

    // MARK: After an attempt

    private static func downloadError(_ error: any Error) -> any Error {
        switch error {
        case let error as HTTPTransportError where error.code == .badRedirect:
            DownloadError(.badRedirect, error.message, cause: error)
        case let error as HTTPTransportError: DownloadError(error)
        case is DownloadError, is CancellationError: error
        // Other errors come from a transport of the app, or from a closure such as the responder of
        // `AuthenticatingTransport`.
        default: DownloadError(.hook, "the transport failed: \("\(error)".excerpt)", cause: error)
        }
    }

    /// Takes a token from the retry budget and returns the pause before the next attempt. Returns nil if there is no
    /// further attempt. The first retry does not need a token.
    private func waitingTime(after failure: any Error, attempts: Int) -> Duration? {
        let cause: RetryCause
        switch (failure as? DownloadError)?.code {
        case .status(let status)?:
            let fields = (failure as? DownloadError)?.head?.fields ?? HTTPFields()
            cause = .status(status, retryAfter: RetryAfter.delay(in: fields, now: http.clock.now))
        case .transport(let code)?: cause = .transport(code)
        default: return nil
        }
        let decision = retry.decide(
            after: cause, method: request.method, attempts: attempts, random: random())
        guard case .retry(let wait) = decision else { return nil }
        let hasToken = http.configuration.retryBudget?.withdraw(at: http.clock.uptime) ?? true
        return hasToken || attempts == 1 ? wait : nil
    }

    /// Returns the wait for the network before the next attempt; nil if the policy has none, or a server responded.
    private func networkWait(after failure: any Error) -> NetworkWait? {
        // The other error is CancellationError, which needs no network.
        guard retry.maximumNetworkWait > .zero, case .transport? = (failure as? DownloadError)?.code else { return nil }
        return NetworkWait(
            monitor: http.configuration.networkMonitor, url: request.url, limit: retry.maximumNetworkWait,
            clock: http.clock)
    }

    // MARK: Partial content

    /// Fills the sink with the stored part of an earlier download.
    private mutating func restore() async throws {
        guard let partialContents, request.method == .get,
            let found = try await partialContents.restore(
                request, limit: http.configuration.maximumByteCount, into: &sink)
        else { return }
        content = found.content
        recorder = PartialContentRecorder(
            partialContents, request: request, content: found.content, pieceCount: found.pieceCount,
            offset: sink.count)
    }

    /// Stores the pending bytes if the content can be resumed. Otherwise, removes the stored pieces.
    private mutating func keepPartialContent(after failure: any Error) async {
        let isLasting = (failure as? DownloadError).map { FailureCache.isLasting($0.code) } ?? false
        if isLasting || sink.count > content?.total ?? .max { content = nil }
        guard let recorder else { return }
        let isUseful = content != nil
        // The current task may be canceled, and a store in it would fail.
        self.recorder = await Task(executorPreference: http.configuration.taskExecutor) { [recorder] in
            var recorder = recorder
            if isUseful { await recorder.flush() } else { await recorder.removeAll() }
            return recorder
        }.value
    }
}

/// A request in an object of its own, so that async frames do not hold it.
private final class RenewedRequest: Sendable {
    let request: HTTPRequest

    init(_ request: HTTPRequest) { self.request = request }
}

/// The errors of a transfer. They are created in separate functions, so that the frame of the reading function does not
/// hold their parts.
private enum TransferFailure {
    @inline(never)
    static func part(_ head: HTTPResponseHead) -> any Error {
        DownloadError(
            .transport(.invalidResponse), "\(head.url.origin) sent a part of the content that was not requested",
            head: head)
    }

    @inline(never)
    static func declaredTooLarge(_ count: Int, _ limit: Int, _ head: HTTPResponseHead) -> any Error {
        DownloadError(
            .tooLarge,
            "the response from \(head.url.origin) declares \(count) bytes, which exceeds the limit of \(limit) bytes",
            head: head)
    }

    @inline(never)
    static func tooLarge(_ limit: Int, _ head: HTTPResponseHead) -> any Error {
        DownloadError(
            .tooLarge, "the response from \(head.url.origin) exceeds the limit of \(limit) bytes", head: head)
    }

    @inline(never)
    static func tooMany(_ expected: Int, _ head: HTTPResponseHead) -> any Error {
        HTTPTransportError(.invalidResponse, "\(head.url.origin) sent more than the declared \(expected) bytes")
    }

    @inline(never)
    static func tooFew(_ count: Int, _ expected: Int, _ head: HTTPResponseHead) -> any Error {
        HTTPTransportError(
            .connectionLost, "the connection to \(head.url.origin) ended after \(count) of \(expected) bytes")
    }

    @inline(never)
    static func empty(_ head: HTTPResponseHead, _ caching: ResponseCaching?) -> any Error {
        DownloadError(.empty, "the response from \(head.url.origin) is empty", head: head).rejecting(caching)
    }
}
