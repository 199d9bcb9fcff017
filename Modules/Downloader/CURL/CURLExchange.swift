import AlcedoCore

/// One request and its answer, between the task that waits and the thread that works.
final class CURLExchange: Sendable {
    typealias ID = ObjectIdentifier

    private enum Head {
        case pending
        case awaited(CheckedContinuation<ResponseHeads, any Error>)
        case settled
    }

    private struct State {
        var head = Head.pending
        var parser: ResponseHeadParser
        var lastActivity = ContinuousClock.now
        /// The reader lags; silence is ours, not the server's.
        var isPaused = false
        var problem: HTTPTransportError?
    }

    let request: CURLRequest
    let body: HTTPBodyPipe
    private let state: Locked<State>

    var id: ID { ObjectIdentifier(self) }

    /// - Parameters:
    ///   - onSpace: Called when the transfer may go on after a pause.
    ///   - onCancel: Called when the transfer is to end because nobody wants the rest.
    init(
        _ request: CURLRequest,
        onSpace: @escaping @Sendable (CURLExchange) -> Void,
        onCancel: @escaping @Sendable (CURLExchange) -> Void
    ) {
        self.request = request
        state = Locked(State(parser: ResponseHeadParser(url: request.url)))
        let link = WeakLink<CURLExchange>()
        body = HTTPBodyPipe(
            onSpace: { link.object.map(onSpace) },
            onCancel: {
                guard let exchange = link.object else { return }
                onCancel(exchange)
                exchange.settle(.failure(CancellationError()))
            })
        link.object = self
    }

    func expectHead(_ continuation: CheckedContinuation<ResponseHeads, any Error>) {
        let isSettled = state.withLock { state in
            if case .settled = state.head { return true }
            state.head = .awaited(continuation)
            return false
        }
        if isSettled { continuation.resume(throwing: CancellationError()) }
    }

    // MARK: Called on the loop's thread

    /// Whether the waiting task has its head, or its error.
    var isSettled: Bool {
        state.withLock { state in
            if case .settled = state.head { return true }
            return false
        }
    }

    /// Takes one line of the head. False ends the transfer.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        let outcome = state.withLock { state -> Result<ResponseHeads?, HTTPTransportError> in
            state.lastActivity = .now
            do throws(HTTPTransportError) {
                return .success(try state.parser.receive(line))
            } catch {
                state.problem = error
                return .failure(error)
            }
        }
        switch outcome {
        case .success(let heads):
            if let heads { settle(.success(heads)) }
            return true
        case .failure:
            return false
        }
    }

    /// Takes some of the body, or none of it when the reader lags.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let isTaken = body.write(bytes)
        state.withLock { state in
            state.lastActivity = .now
            state.isPaused = !isTaken
        }
        return isTaken
    }

    /// Ends the exchange; nil when the answer is whole.
    func finish(_ error: HTTPTransportError?) {
        let error = state.withLock { $0.problem } ?? error
        settle(.failure(error ?? HTTPTransportError(.invalidResponse, "the answer has no head")))
        body.finish(error)
    }

    /// Time left before the server has been silent for too long; nil while the reader is what lags.
    func timeLeft(at now: ContinuousClock.Instant) -> Duration? {
        state.withLock { $0.isPaused ? nil : request.idleTimeout - (now - $0.lastActivity) }
    }

    func restartTimer() {
        state.withLock { $0.lastActivity = .now }
    }

    /// Gives the waiting task its head, or its error. Only the first call counts.
    private func settle(_ result: Result<ResponseHeads, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<ResponseHeads, any Error>? in
            defer { state.head = .settled }
            if case .awaited(let continuation) = state.head { return continuation }
            return nil
        }
        continuation?.resume(with: result)
    }
}
