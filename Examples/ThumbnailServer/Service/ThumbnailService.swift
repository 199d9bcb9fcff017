import Alcedo
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
        guard let (query, _) = try? checkedQuery(head), maker.isWaiting(for: query.key) else {
            return Refusal.late.reply
        }
        return sendAway()
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
