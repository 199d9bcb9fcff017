import Alcedo
import FoundationEssentials

/// What the server answers: pictures, its health, its numbers.
final class ThumbnailService: HTTPHandling {
    struct Settings: Sendable {
        var allowed = AllowList()
        /// Nil: URLs need no signature.
        var signature: URLSignature?
        var maximumSide = 2_048
        /// Most requests that are worked on or wait.
        var maximumRequests = 256
    }

    private let settings: Settings
    private let maker: ThumbnailMaker
    private let answers: AnswerStore
    private let pipelineMetrics: PipelineMetrics
    private let clock: any TimeSource
    private let metrics = ServerMetrics()
    private let admission: Admission
    private let isStopping = Locked(false)

    /// - Parameter pipelineMetrics: Those of the pipeline that makes the pictures.
    init(
        _ settings: Settings, maker: ThumbnailMaker, answers: AnswerStore, pipelineMetrics: PipelineMetrics,
        clock: any TimeSource = SystemClock()
    ) {
        self.settings = settings
        self.maker = maker
        self.answers = answers
        self.pipelineMetrics = pipelineMetrics
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
            inFlight: admission.current, storeFailures: answers.failureCount, pipelineMetrics.snapshot)
        return Reply(status: 200, text: text, type: PrometheusText.type)
    }

    private func thumbnail(_ head: RequestHead) throws(Refusal) -> HTTPAnswer {
        let query = try checkedQuery(head)
        if let thumbnail = answers.quickAnswer(for: query.key) {
            metrics.answered(from: .memory)
            return .now(thumbnail.reply(to: head, isNegotiated: query.isNegotiated, now: clock.now))
        }
        guard !isStopping.withLock({ $0 }) else { throw .stopping }
        guard admission.enter() else {
            metrics.shed()
            throw Refusal(503, "there is too much to do", retryAfter: 1)
        }
        return .later { [self] in
            defer { admission.leave() }
            return await made(query, for: head)
        }
    }

    /// What is asked for, if whoever asks may.
    private func checkedQuery(_ head: RequestHead) throws(Refusal) -> ThumbnailQuery {
        let items = try QueryItems(head.query)
        if let signature = settings.signature {
            try signature.check(path: head.path, items, now: clock.now)
        } else if items[URLSignature.name] != nil || items[URLSignature.expiry] != nil {
            throw Refusal(400, "this server has no key, and takes no signatures")
        }
        let query = try ThumbnailQuery(items, accept: head.accept, maximumSide: settings.maximumSide)
        try settings.allowed.check(query.source)
        return query
    }

    private func made(_ query: ThumbnailQuery, for head: RequestHead) async -> Reply {
        do {
            let made = try await maker.thumbnail(for: query)
            metrics.answered(from: made.origin)
            return made.thumbnail.reply(to: head, isNegotiated: query.isNegotiated, now: clock.now)
        } catch {
            return Refusal(error).reply
        }
    }
}
