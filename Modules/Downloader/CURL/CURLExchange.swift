import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// One request and its response, between the task that waits and the loop's thread. It is the source of the response's
/// body.
final class CURLExchange: HTTPBodySource {
    typealias ID = ObjectIdentifier

    private enum Head {
        case pending
        case awaited(UnsafeContinuation<ResponseHeads, any Error>)
        case settled
    }

    let request: CURLRequest
    let body: HTTPBodyPipe
    let record = HTTPTransferRecord()
    /// When it was made.
    let time = ContinuousClock.now
    private let head = Locked(Head.pending)
    let order = ResumptionOrder()

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
        let link = UnownedLink<CURLExchange>()
        body = HTTPBodyPipe(
            onSpace: { link.object.map(onSpace) },
            onCancel: {
                guard let exchange = link.object else { return }
                // First, because a loop that finds the cancellation before the start looks whether it is settled.
                exchange.settle(.failure(CancellationError()))
                onCancel(exchange)
            })
        link.object = self
    }

    func next() async throws -> Data? { try await body.next() }

    func cancel() { body.cancel() }

    /// - Parameter continuation: Is resumed once: by who takes it out of the state.
    func expectHead(_ continuation: UnsafeContinuation<ResponseHeads, any Error>) {
        let isSettled = head.withLock { head in
            if case .settled = head { return true }
            head = .awaited(continuation)
            return false
        }
        if isSettled { continuation.resume(throwing: CancellationError()) }
    }

    /// Whether the waiting task has its head, or its error.
    var isSettled: Bool {
        head.withLock { head in
            if case .settled = head { return true }
            return false
        }
    }

    /// Gives the waiting task its head, or its error. Only the first call counts.
    func settle(_ result: Result<ResponseHeads, any Error>) {
        let continuation = head.withLock { head -> UnsafeContinuation<ResponseHeads, any Error>? in
            defer { head = .settled }
            if case .awaited(let continuation) = head { return continuation }
            return nil
        }
        order.willResume()
        continuation?.resume(with: result)
    }

    /// Ends the exchange; nil when the response is complete.
    func finish(_ error: HTTPTransportError?) {
        // libcurl takes a connection that ends in the head for an answer without a body.
        settle(.failure(error ?? HTTPTransportError(.connectionLost, "the connection ended in the answer's head")))
        body.finish(error)
    }
}

/// Lets the parts of an object find it without keeping it alive. They must not outlive it.
///
/// Not a weak reference, which costs an allocation of its own for each object.
private final class UnownedLink<Object: AnyObject & Sendable>: Sendable {
    private struct Reference {
        unowned var object: Object?
    }

    private let reference = Locked(Reference())

    var object: Object? {
        get { reference.withLock { $0.object } }
        set { reference.withLock { $0.object = newValue } }
    }
}
