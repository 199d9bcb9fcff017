import AlcedoCURL
import AlcedoHTTP
import FoundationEssentials
import Synchronization

/// A transport whose bodies have a source of their own, which counts the bytes for the metrics.
struct PlugInTransport: HTTPTransport {
    private let network = CURLTransport()

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let response = try await network.send(request)
        let source = CountingBody(body: response.body)
        return HTTPResponse(
            head: response.head, body: HTTPBody(source), interim: response.interim, metrics: { source.metrics })
    }
}

/// The body of another transport, with the number of its bytes and its duration.
private final class CountingBody: HTTPBodySource {
    private struct State {
        var count = 0
        var metrics: HTTPTransferMetrics?
    }

    private let body: HTTPBody
    private let start = ContinuousClock.now
    private let state = Mutex(State())

    init(body: HTTPBody) { self.body = body }

    /// The metrics; nil before the end of the body.
    var metrics: HTTPTransferMetrics? { state.withLock { $0.metrics } }

    func next() async throws -> Data? {
        var iterator = body.makeAsyncIterator()
        let piece = try await iterator.next()
        state.withLock { state in
            state.count += piece?.count ?? 0
            guard piece == nil else { return }
            var metrics = HTTPTransferMetrics()
            metrics.total = ContinuousClock.now - start
            metrics.bytesReceived = state.count
            state.metrics = metrics
        }
        return piece
    }

    func cancel() { body.cancel() }
}
