import Alcedo
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// What the server answers: pictures, its health, its numbers.
final class ThumbnailService: HTTPHandling {
    struct Settings: Sendable {
        var allowed = AllowList()
        /// Nil: URLs need no signature.
        var signature: URLSignature?
        var maximumSide = 2_048
        /// Most different requests that are worked on or wait; half of them at most for one host.
        var maximumRequests = 512
    }

    private let settings: Settings
    private let maker: ThumbnailMaker
    private let answers: AnswerStore
    private let pipelineMetrics: PipelineMetrics
    private let sharing: SharedStoreWatch?
    private let clock: any TimeSource
    private let metrics = ServerMetrics()
    private let admission: Admission
    private let isStopping = Locked(false)

    /// - Parameters:
    ///   - pipelineMetrics: Those of the pipeline that makes the pictures.
    ///   - sharing: Of the store that other servers use, too.
    init(
        _ settings: Settings, maker: ThumbnailMaker, answers: AnswerStore, pipelineMetrics: PipelineMetrics,
        sharing: SharedStoreWatch? = nil, clock: any TimeSource = SystemClock()
    ) {
        self.settings = settings
        self.maker = maker
        self.answers = answers
        self.pipelineMetrics = pipelineMetrics
        self.sharing = sharing
        self.clock = clock
        admission = Admission(limit: settings.maximumRequests)
    }

    /// From now on it is not healthy, and makes no more pictures.
    func beginStopping() { isStopping.withLock { $0 = true } }

    func answer(to head: RequestHead) -> HTTPAnswer {
        do throws(Refusal) {
            guard ["GET", "HEAD"].contains(head.method) else { throw Refusal.method }
            switch head.path {
            case "/health": return .now(try health())
            case "/metrics": return .now(numbers())
            case ThumbnailQuery.path[...]: return try thumbnail(head)
            default: throw Refusal(404, "there are /thumbnail, /health and /metrics")
            }
        } catch {
            return .now(error.reply)
        }
    }

    func sendAway() -> Reply {
        metrics.shed()
        return Refusal.busy.reply
    }

    func late(_ head: RequestHead) -> Reply {
        // What has found no place yet has asked no origin: there is too much to do here.
        // What has found no place yet has asked no origin: there is too much to do here.
        isQueued(head) ? sendAway() : Refusal.late.reply
    }

    /// Whether nothing has been begun for a request but the wait for a place.
    func isQueued(_ head: RequestHead) -> Bool {
        guard let (query, _) = try? checkedQuery(head) else { return false }
        return maker.isWaiting(for: query.key)
    }

    func ended(_ head: RequestHead, status: Int?, byteCount: Int, duration: Duration) {
        let isPicture = head.path == ThumbnailQuery.path
        metrics.ended(status: status, byteCount: byteCount, duration: isPicture ? duration : nil)
    }

    private func health() throws(Refusal) -> Reply {
        guard !isStopping.withLock({ $0 }) else { throw .stopping }
        return Reply(status: 200, text: "ok\n")
    }

    private func numbers() -> Reply {
        let text = metrics.text(
            inFlight: admission.current, answers.storing, sharing: sharing?.numbers, pipelineMetrics.snapshot)
        return Reply(status: 200, text: text, type: PrometheusText.type)
    }

    private func thumbnail(_ head: RequestHead) throws(Refusal) -> HTTPAnswer {
        let (query, end) = try checkedQuery(head)
        if let thumbnail = answers.quickAnswer(for: query.key) {
            metrics.answered(from: .memory)
            return .now(thumbnail.reply(to: head, isNegotiated: query.isNegotiated, now: clock.now, until: end))
        }
        guard !isStopping.withLock({ $0 }) else { throw .stopping }
        guard let place = admission.enter(query.key, of: query.source.host) else { return .now(sendAway()) }
        return .later { [self] in
            defer { place.leave() }
            return await made(query, for: head, until: end)
        }
    }

    /// What is asked for, if whoever asks may, and until when.
    private func checkedQuery(_ head: RequestHead) throws(Refusal) -> (ThumbnailQuery, until: Date?) {
        let items = try QueryItems(head.query)
        var end: Date?
        if let signature = settings.signature {
            end = try signature.check(path: head.path, items, now: clock.now)
        } else if items[URLSignature.name] != nil || items[URLSignature.expiry] != nil {
            throw Refusal(400, "this server has no key, and takes no signatures")
        }
        let query = try ThumbnailQuery(items, accept: head.accept, maximumSide: settings.maximumSide)
        try settings.allowed.check(query.source)
        return (query, end)
    }

    private func made(_ query: ThumbnailQuery, for head: RequestHead, until end: Date?) async -> Reply {
        do {
            let made = try await maker.thumbnail(for: query)
            metrics.answered(from: made.origin)
            return made.thumbnail.reply(to: head, isNegotiated: query.isNegotiated, now: clock.now, until: end)
        } catch {
            return Refusal(error).reply
        }
    }
}

extension Refusal {
    /// What a client is told of a failure. Words of our own: an origin's are not passed on.
    init(_ error: any Error) {
        switch error {
        case let refusal as Refusal: self = refusal
        case is CancellationError: self = .stopping
        case let error as PipelineError: self.init(error)
        case is ImageEncodingError: self.init(500, "the picture cannot be written in this format")
        default: self.init(500, "something went wrong")
        }
    }

    private init(_ error: PipelineError) {
        switch (error.code, error.cause) {
        case (.download, let cause as DownloadError): self.init(cause)
        case (.download, _): self.init(502, "the origin cannot be asked")
        case (.decoding(.exceedsLimit), _): self.init(413, "the original has too many pixels, or frames")
        case (.decoding(.outOfMemory), _): self.init(503, "there is no memory for the original", retryAfter: 1)
        case (.decoding(.unknownFormat), _), (.decoding(.empty), _): self.init(422, "the original is no picture")
        case (.decoding, _): self.init(422, "the original cannot be decoded")
        case (.processing, _): self.init(422, "the picture cannot be made of the original")
        case (.shutDown, _): self = .stopping
        case (.notInCache, _), (.notStored, _): self.init(502, "the origin cannot be asked")
        }
    }

    private init(_ error: DownloadError) {
        switch error.code {
        case .status(404): self.init(404, "the origin has no such picture")
        case .status(410): self.init(410, "the origin has the picture no more")
        case .status: self.init(502, "the origin does not give the picture")
        case .tooLarge: self.init(413, "the original has too many bytes")
        case .unexpectedContent, .empty: self.init(422, "the original is no picture")
        case .transport(.timedOut): self.init(504, "the origin does not answer in time")
        case .transport(.addressRefused): self = AllowList.refusal
        case .hook where error.cause is Refusal: self = AllowList.refusal
        case .shutDown: self = .stopping
        default: self.init(502, "the origin cannot be asked")
        }
    }
}

/// Lets in as many different requests as there may be at once, half of them at most for one host, and sends the others
/// away. Equal ones share a place.
final class Admission: Sendable {
    /// The place of one request, which is given back at the latest when this is let go: the work it was for may never run.
    final class Place: Sendable {
        private let key: ImageKey
        private let host: String
        private let admission: Admission
        private let isTaken = Locked(true)

        fileprivate init(_ key: ImageKey, of host: String, _ admission: Admission) {
            (self.key, self.host, self.admission) = (key, host, admission)
        }

        deinit { leave() }

        func leave() {
            let isFirst = isTaken.withLock { isTaken in
                defer { isTaken = false }
                return isTaken
            }
            if isFirst { admission.leave(key, of: host) }
        }
    }

    private struct Counts {
        /// Requests by what they ask for.
        var requests: [ImageKey: Int] = [:]
        /// Different requests by host.
        var hosts: [String: Int] = [:]
    }

    private let limit: Int
    private let counts = Locked(Counts())

    init(limit: Int) { self.limit = limit }

    /// How many requests there are, equal ones included.
    var current: Int { counts.withLock { $0.requests.values.reduce(0, +) } }

    /// The place of a request for what a host has; nil when there is no room.
    func enter(_ key: ImageKey, of host: String) -> Place? {
        let isIn = counts.withLock { counts in
            if counts.requests[key] == nil {
                let ofHost = counts.hosts[host, default: 0]
                guard counts.requests.count < limit, ofHost < (limit + 1) / 2 else { return false }
                counts.hosts[host] = ofHost + 1
            }
            counts.requests[key, default: 0] += 1
            return true
        }
        return isIn ? Place(key, of: host, self) : nil
    }

    private func leave(_ key: ImageKey, of host: String) {
        counts.withLock { counts in
            let count = counts.requests[key, default: 0] - 1
            counts.requests[key] = count > 0 ? count : nil
            guard count == 0 else { return }
            let ofHost = counts.hosts[host, default: 0] - 1
            counts.hosts[host] = ofHost > 0 ? ofHost : nil
        }
    }
}
