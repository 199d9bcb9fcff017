import Alcedo
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// The handler of the server's requests: thumbnails, health and metrics.
final class ThumbnailService: HTTPHandling {
    struct Settings: Sendable {
        var allowed = AllowList()
        /// The signature that URLs need; nil if they need none.
        var signature: URLSignature?
        var maximumSide = 2_048
        /// The formats among which `Accept` selects, in order of preference.
        var negotiatedFormats = ThumbnailFormat.negotiated
        /// The maximum number of distinct requests that are in progress or wait. ``Admission`` has the rule by which
        /// machines share them.
        var maxConcurrentRequests = 512
        /// The maximum number of requests that are in progress or wait, including equal ones, which machines share by
        /// the same rule.
        var maxConcurrentWaiters = 1_024
        /// The maximum number of bytes that the encoder of a format that `Accept` selects may hold.
        var maximumEncodingByteCount = Int.max
    }

    private let settings: Settings
    private let generator: ThumbnailGenerator
    private let cache: ThumbnailCache
    private let pipelineMetrics: PipelineMetrics
    private let sharedStore: SharedStoreMonitor?
    private let sandboxCounts: (@Sendable () -> SandboxCounts)?
    private let clock: any TimeSource
    private let metrics = ServerMetrics()
    private let admission: Admission
    /// The limit on reads of the store for requests that ``admission`` rejects.
    private let storeReads: Admission
    private let isStopping = Locked(false)

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - settings: The access rules and limits.
    ///   - admission: The limit on requests.
    ///   - generator: The generator of the thumbnails.
    ///   - cache: The cache of the thumbnails.
    ///   - pipelineMetrics: The metrics of the generator's pipeline.
    ///   - sharedStore: The monitor of the store that several servers share; nil if there is none.
    ///   - sandboxCounts: A closure that returns the counts of the sandbox; nil if there is no sandbox.
    ///   - clock: The clock. Default: the system's clock.
    init(
        _ settings: Settings, admission: Admission, generator: ThumbnailGenerator, cache: ThumbnailCache,
        pipelineMetrics: PipelineMetrics, sharedStore: SharedStoreMonitor? = nil,
        sandboxCounts: (@Sendable () -> SandboxCounts)? = nil, clock: any TimeSource = SystemClock()
    ) {
        self.settings = settings
        self.generator = generator
        self.cache = cache
        self.pipelineMetrics = pipelineMetrics
        self.sharedStore = sharedStore
        self.sandboxCounts = sandboxCounts
        self.clock = clock
        self.admission = admission
        let limit = settings.maxConcurrentRequests
        storeReads = Admission(limit: limit, waiterLimit: limit)
    }

    /// Makes the service report that it is unhealthy, and reject requests for thumbnails that are not in memory.
    func beginStopping() { isStopping.withLock { $0 = true } }

    func respond(to head: RequestHead) -> HandlerResult {
        do throws(HTTPError) {
            guard ["GET", "HEAD"].contains(head.method) else { throw HTTPError.methodNotAllowed }
            switch head.path {
            case "/health": return .response(try health())
            case "/metrics": return .response(metricsResponse())
            case ThumbnailQuery.path[...]: return try thumbnail(head)
            default: throw HTTPError(404, "unknown path; available: /thumbnail, /health, /metrics")
            }
        } catch {
            return .response(error.response)
        }
    }

    func overloadResponse() -> ServerResponse {
        metrics.shed()
        return HTTPError.overloaded.response
    }

    func timeoutResponse(to head: RequestHead) -> ServerResponse {
        // A request that still waits for others has no late origin and no slow decode: the server is overloaded.
        isQueued(head) ? overloadResponse() : HTTPError.timedOut.response
    }

    /// Whether the thumbnail of a request waits for others: for their originals to be fetched, or for a thread or
    /// memory that they use.
    func isQueued(_ head: RequestHead) -> Bool {
        guard let (query, _) = try? checkedQuery(head) else { return false }
        return generator.isWaiting(for: query)
    }

    /// Returns the number of requests that wait for the same thumbnail.
    func waiterCount(for head: RequestHead) -> Int {
        guard let (query, _) = try? checkedQuery(head) else { return 0 }
        return generator.waiterCount(for: query.key)
    }

    func requestEnded(_ head: RequestHead, status: Int?, byteCount: Int, duration: Duration) {
        let isThumbnail = head.path == ThumbnailQuery.path
        metrics.requestEnded(status: status, byteCount: byteCount, duration: isThumbnail ? duration : nil)
    }

    private func health() throws(HTTPError) -> ServerResponse {
        guard !isStopping.withLock({ $0 }) else { throw .shuttingDown }
        return ServerResponse(status: 200, text: "ok\n")
    }

    private func metricsResponse() -> ServerResponse {
        let text = metrics.text(
            inFlight: admission.current, cache.writeStatistics, sharedStore: sharedStore?.current,
            sandbox: sandboxCounts?(), pipelineMetrics.snapshot)
        return ServerResponse(status: 200, text: text, type: PrometheusText.type)
    }

    private func thumbnail(_ head: RequestHead) throws(HTTPError) -> HandlerResult {
        let (query, end) = try checkedQuery(head)
        if let thumbnail = cache.memoryThumbnail(for: query.key) {
            metrics.recordThumbnail(from: .memory)
            return .response(thumbnail.response(to: head, isNegotiated: query.isNegotiated, now: clock.now, until: end))
        }
        guard !isStopping.withLock({ $0 }) else { throw .shuttingDown }
        guard let permit = admission.acquire(query.key, of: query.source.host) else {
            return storedResponse(to: query, for: head, until: end)
        }
        return .asynchronous { [self] in
            defer { permit.release() }
            return await generatedResponse(to: query, for: head, until: end)
        }
    }

    /// Returns the response to a request that was not admitted: its thumbnail if it is stored, because that needs no
    /// original; otherwise, 503.
    private func storedResponse(to query: ThumbnailQuery, for head: RequestHead, until end: Date?) -> HandlerResult {
        guard cache.hasStore, let permit = storeReads.acquire(query.key, of: query.source.host) else {
            return .response(overloadResponse())
        }
        return .asynchronous { [self] in
            defer { permit.release() }
            guard let thumbnail = await cache.storedThumbnail(for: query.key) else { return overloadResponse() }
            metrics.recordThumbnail(from: .store)
            return thumbnail.response(to: head, isNegotiated: query.isNegotiated, now: clock.now, until: end)
        }
    }

    /// Checks the signature, the parameters and the source of a request. Returns its query and the date until which its
    /// URL is valid; nil for no limit. Throws the error that the client receives if a check fails.
    private func checkedQuery(_ head: RequestHead) throws(HTTPError) -> (ThumbnailQuery, until: Date?) {
        let items = try QueryItems(head.query)
        var end: Date?
        if let signature = settings.signature {
            end = try signature.check(path: head.path, items, now: clock.now)
        } else if items[URLSignature.name] != nil || items[URLSignature.expiry] != nil {
            throw HTTPError(400, "this server does not accept signed URLs")
        }
        let query = try ThumbnailQuery(
            items, accept: head.accept, maximumSide: settings.maximumSide, negotiated: settings.negotiatedFormats,
            maximumEncodingByteCount: settings.maximumEncodingByteCount)
        try settings.allowed.check(query.source)
        return (query, end)
    }

    private func generatedResponse(to query: ThumbnailQuery, for head: RequestHead, until end: Date?) async
        -> ServerResponse
    {
        do {
            let generated = try await generator.thumbnail(for: query)
            metrics.recordThumbnail(from: generated.source)
            return generated.thumbnail.response(to: head, isNegotiated: query.isNegotiated, now: clock.now, until: end)
        } catch {
            return HTTPError(error).response
        }
    }
}

extension HTTPError {
    /// Creates the error that a client receives for a failure. The message never contains text from an origin.
    init(_ error: any Error) {
        switch error {
        case let rejection as HTTPError: self = rejection
        case is CancellationError: self = .shuttingDown
        case let error as PipelineError: self.init(error)
        case let error as ImageEncodingError where error.code == .outOfMemory:
            self.init(503, "not enough memory for the thumbnail", retryAfter: 1)
        case let error as ImageEncodingError where error.code == .exceedsLimit:
            self.init(413, "the thumbnail needs too much memory in this format")
        case is ImageEncodingError: self.init(500, "the thumbnail cannot be encoded in this format")
        default: self.init(500, "an unexpected error occurred")
        }
    }

    private init(_ error: PipelineError) {
        switch (error.code, error.cause) {
        case (.download, let cause as DownloadError): self.init(cause)
        case (.download, _), (.providerCancelled, _): self.init(502, "the original could not be fetched")
        case (.decoding(.exceedsLimit), _): self.init(413, "the original is too large or too complex")
        case (.decoding(.timedOut), _): self = .timedOut
        case (.decoding(.outOfMemory), _): self.init(503, "not enough memory for the original", retryAfter: 1)
        case (.decoding(.decoderUnavailable), _): self.init(503, "no decoder is available", retryAfter: 1)
        case (.decoding(.unknownFormat), _), (.decoding(.empty), _): self.init(422, "the original is not an image")
        case (.decoding, _): self.init(422, "the original cannot be decoded")
        case (.processing, _): self.init(422, "the original cannot be processed")
        case (.shutDown, _): self = .shuttingDown
        case (.notInCache, _), (.notStored, _): self.init(502, "the original could not be fetched")
        }
    }

    private init(_ error: DownloadError) {
        switch error.code {
        case .status(404): self.init(404, "the origin responded with 404 Not Found")
        case .status(410): self.init(410, "the origin responded with 410 Gone")
        case .status: self.init(502, "the origin responded with an error status")
        case .tooLarge: self.init(413, "the original has too many bytes")
        case .unexpectedContent, .empty: self.init(422, "the original is not an image")
        case .transport(.outOfDescriptors): self.init(503, "the server has too many open files", retryAfter: 1)
        case .transport(.timedOut): self.init(504, "the origin did not respond in time")
        case .transport(.addressRefused): self = AllowList.rejection
        case .hook where error.cause is HTTPError: self = AllowList.rejection
        case .shutDown: self = .shuttingDown
        default: self.init(502, "the original could not be fetched")
        }
    }
}
