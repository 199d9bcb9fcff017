import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// A request and its response, shared by the waiting task and the loop's thread. It is the source of the response's
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
    /// The time of creation.
    let time = ContinuousClock.now
    private let head = Locked(Head.pending)
    private let hasWaitedFurther = Locked(false)
    let order = ResumptionOrder()

    var id: ID { ObjectIdentifier(self) }
    /// The identity as a number, for a queue. No other exchange has it while this one exists.
    var number: Int { Int(bitPattern: id) }

    /// Creates an exchange.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - onSpace: A closure that is called when the transfer may continue after a pause.
    ///   - onCancel: A closure that is called when the transfer must end because its response is no longer needed.
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
                // The exchange is settled first. The loop may process this cancellation before the start command, and
                // it does not begin a settled exchange.
                exchange.settle(.failure(CancellationError()))
                onCancel(exchange)
            })
        link.object = self
    }

    /// Records that the exchange waits for a permit although an attempt has failed. Returns false after the first call.
    func beginsFurtherWait() -> Bool {
        hasWaitedFurther.withLock { hasWaited in
            defer { hasWaited = true }
            return !hasWaited
        }
    }

    func next() async throws -> Data? { try await body.next() }

    func cancel() { body.cancel() }

    /// Stores the continuation of the task that waits for the head, or resumes it with `CancellationError` if the
    /// exchange is already settled.
    ///
    /// - Parameter continuation: The continuation, which is resumed exactly once.
    func expectHead(_ continuation: UnsafeContinuation<ResponseHeads, any Error>) {
        let isSettled = head.withLock { head in
            if case .settled = head { return true }
            head = .awaited(continuation)
            return false
        }
        if isSettled { continuation.resume(throwing: CancellationError()) }
    }

    /// Whether the exchange has been settled: with a head or with an error.
    var isSettled: Bool {
        head.withLock { head in
            if case .settled = head { return true }
            return false
        }
    }

    /// Settles the exchange, and resumes the task that waits for the head. Later calls do not resume the task again.
    func settle(_ result: Result<ResponseHeads, any Error>) {
        let continuation = head.withLock { head -> UnsafeContinuation<ResponseHeads, any Error>? in
            defer { head = .settled }
            if case .awaited(let continuation) = head { return continuation }
            return nil
        }
        order.willResume()
        continuation?.resume(with: result)
    }

    /// Ends the exchange.
    ///
    /// - Parameter error: The error; nil if the response is complete.
    func finish(_ error: HTTPTransportError?) {
        // A transfer without an error may still have no head: libcurl treats a connection that ends inside the head as
        // a response without a body.
        let lost = "the connection ended in the response header of \(request.url.shown)"
        settle(.failure(error ?? HTTPTransportError(.connectionLost, lost)))
        body.finish(error)
    }
}

/// A link from the parts of an object to the object, which does not keep the object alive. The parts must not outlive
/// the object.
///
/// A weak reference would cost a separate allocation for each object.
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
