import AlcedoCore
import AlcedoURLResponseCache
import FoundationEssentials

/// A clock that stands still until a test moves it.
final class ManualClock: TimeSource {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    static let start = Date(timeIntervalSince1970: 784_111_777)

    private let date = Locked(ManualClock.start)

    var now: Date { date.withLock { $0 } }
    var uptime: Duration { .seconds(now.timeIntervalSince1970) }

    func advance(_ seconds: TimeInterval) { date.withLock { $0 += seconds } }

    func sleep(for duration: Duration) async throws { advance(TimeInterval(duration.components.seconds)) }
}

/// A server of canned answers, which notes what it is asked.
final class FakeTransport: HTTPTransport {
    typealias Answer = @Sendable (HTTPRequest) async throws -> HTTPResponse

    private struct State {
        var answers: [Answer] = []
        var requests: [HTTPRequest] = []
    }

    private let state = Locked(State())

    var requests: [HTTPRequest] { state.withLock { $0.requests } }

    func answer(_ answer: @escaping Answer) { state.withLock { $0.answers.append(answer) } }

    func answer(_ status: Int = 200, _ fields: HTTPFields, body: String = "body") {
        answer { request in
            HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: status, fields: fields),
                body: HTTPBody(Data(body.utf8)))
        }
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let answer = state.withLock { state -> Answer? in
            state.requests.append(request)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        guard let answer else { throw HTTPTransportError(.cannotConnect, "no answer is prepared") }
        return try await answer(request)
    }
}

/// A body of given pieces that may end badly: it then throws once, and has an end after that.
final class PiecewiseBody: HTTPBodySource {
    private let pieces: Locked<[Data]>
    private let error: Locked<HTTPTransportError?>
    private let cancelled = Locked(false)

    init(_ pieces: [String], error: HTTPTransportError? = nil) {
        self.pieces = Locked(pieces.map { Data($0.utf8) })
        self.error = Locked(error)
    }

    var isCancelled: Bool { cancelled.withLock { $0 } }

    func next() async throws -> Data? {
        if let piece = pieces.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return piece }
        let error = error.withLock { error in
            defer { error = nil }
            return error
        }
        if let error { throw error }
        return nil
    }

    func cancel() { cancelled.withLock { $0 = true } }
}

/// A cache over a fake server, and shorthands to talk to it.
struct Bench: Sendable {
    static let url = URL(string: "http://example.test/a.png") ?? URL(filePath: "/")

    let clock = ManualClock()
    let server = FakeTransport()
    let store: any ResponseStoring
    let cache: CachingTransport

    init(store: any ResponseStoring = MemoryResponseStore(), limit: Int = 1_000) {
        self.store = store
        cache = CachingTransport(wrapping: server, store: store, time: clock, maximumBodyByteCount: limit)
    }

    /// What came back, body read.
    struct Answer: Equatable {
        var status: Int
        var fields: HTTPFields
        var body: String

        /// What the cache says it did.
        var cacheStatus: String? { fields.values(of: "Cache-Status").last }
        var isHit: Bool { cacheStatus == "alcedo; hit" }
    }

    @discardableResult
    func send(
        _ fields: HTTPFields = [:], method: HTTPMethod = .get, url: URL = Bench.url, body: Data? = nil
    ) async throws -> Answer {
        let response = try await cache.send(HTTPRequest(method: method, url: url, fields: fields, body: body))
        let body = try await response.body.collect(limit: 1 << 20)
        return Answer(
            status: response.head.status, fields: response.head.fields, body: String(decoding: body, as: UTF8.self))
    }
}
