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
        var clock = TransferClock()
        /// Bytes that the body has unpacked to; nil when it is not coded.
        var unpackedCount: Int?
        var problem: HTTPTransportError?
    }

    let request: CURLRequest
    let body: HTTPBodyPipe
    let record = HTTPTransferRecord()
    private let unpackedLimit: Int
    private let state: Locked<State>

    var id: ID { ObjectIdentifier(self) }

    /// - Parameters:
    ///   - unpackedLimit: Most bytes that a coded body may unpack to.
    ///   - onSpace: Called when the transfer may go on after a pause.
    ///   - onCancel: Called when the transfer is to end because nobody wants the rest.
    init(
        _ request: CURLRequest, unpackedLimit: Int,
        onSpace: @escaping @Sendable (CURLExchange) -> Void,
        onCancel: @escaping @Sendable (CURLExchange) -> Void
    ) {
        self.request = request
        self.unpackedLimit = unpackedLimit
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
            state.clock.receivedBytes()
            do throws(HTTPTransportError) {
                let heads = try state.parser.receive(line)
                if let heads, request.decodesContent, heads.final.fields["Content-Encoding"] != nil {
                    state.unpackedCount = 0
                }
                return .success(heads)
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

    /// Takes some of the body, or none of it when the reader lags; nil ends the transfer.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool? {
        let isTooMuch = state.withLock { state in
            state.clock.receivedBytes()
            guard let unpacked = state.unpackedCount, bytes.count > unpackedLimit - unpacked else { return false }
            state.problem = HTTPTransportError(
                .bodyTooLarge, "the body unpacks to more than \(unpackedLimit) bytes")
            return true
        }
        if isTooMuch { return nil }
        let isTaken = body.write(bytes)
        state.withLock { state in
            if isTaken { state.unpackedCount? += bytes.count } else { state.clock.pause() }
        }
        return isTaken
    }

    /// Ends the exchange; nil when the answer is whole.
    func finish(_ error: HTTPTransportError?) {
        let error = state.withLock { $0.problem } ?? error
        settle(.failure(error ?? HTTPTransportError(.invalidResponse, "the answer has no head")))
        body.finish(error)
    }

    /// Whether the body is unpacked on the way.
    var unpacks: Bool { state.withLock { $0.unpackedCount != nil } }

    /// Begins to count the time.
    func startClock() { state.withLock { $0.clock.start() } }

    /// The reader has made room.
    func goOn() { state.withLock { $0.clock.goOn() } }

    /// When the exchange has taken too long, unless something happens before; nil: never.
    func deadline() -> CURLDeadline? { state.withLock { $0.clock.deadline(request.timeouts) } }

    /// How long the exchange waited for its turn.
    var queued: Duration { state.withLock { $0.clock.queued } }

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
