import Alcedo
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// What each layer did since the last beginning, so that one pipeline's runs can be told apart.
final class SwitchedMetrics: PipelineObserving {
    /// What went to servers.
    let servers = ExchangeTally()
    /// What went to the response cache, which stands before them.
    let responses = ExchangeTally()
    private let current = Locked(PipelineMetrics())

    func begin() {
        current.withLock { $0 = PipelineMetrics() }
        servers.begin()
        responses.begin()
    }

    /// What the pipeline has counted.
    var snapshot: PipelineMetrics.Snapshot { current.withLock { $0 }.snapshot }

    func pipelineDidReport(_ event: PipelineEvent) { current.withLock { $0 }.pipelineDidReport(event) }
}

/// Counts what went over a transport since the last beginning.
final class ExchangeTally: Sendable {
    struct Counts: Sendable {
        /// Requests.
        var asked = 0
        /// Answers, whatever their status.
        var answered = 0
        /// Answers that a response cache on the way gave, or had confirmed.
        var stored = 0
        /// Of the bodies of the answers, as far as they were read.
        var byteCount = 0
    }

    private let current = Locked(Counts())

    var counts: Counts { current.withLock { $0 } }

    func begin() { current.withLock { $0 = Counts() } }

    func change(_ change: (inout Counts) -> Void) { current.withLock { change(&$0) } }
}

/// Sends requests through another transport, and counts what comes of them.
struct CountedTransport: HTTPTransport {
    let transport: any HTTPTransport
    let tally: ExchangeTally

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        tally.change { $0.asked += 1 }
        var response = try await transport.send(request)
        let source = response.caching?.source ?? .new
        tally.change { counts in
            counts.answered += 1
            if source != .new { counts.stored += 1 }
        }
        response.body = HTTPBody(CountedBody(response.body, tally))
        return response
    }
}

/// Passes a body on as it arrives, and counts its bytes.
private struct CountedBody: HTTPBodySource {
    private let body: HTTPBody
    private let tally: ExchangeTally

    init(_ body: HTTPBody, _ tally: ExchangeTally) { (self.body, self.tally) = (body, tally) }

    func next() async throws -> Data? {
        // The iterator has no state of its own: all of them read on from the same place.
        var iterator = body.makeAsyncIterator()
        let piece = try await iterator.next()
        if let piece { tally.change { $0.byteCount += piece.count } }
        return piece
    }

    func cancel() { body.cancel() }
}
