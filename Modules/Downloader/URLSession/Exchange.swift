import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import Dispatch
import Foundation
import FoundationNetworking

/// One request and its response.
///
/// `receive`, `complete` and everything that writes to the body's pipe run on the callback queue; `end` comes from
/// anywhere. The lock is held to look and to move values only; whoever takes the continuation or the pipe out of the
/// state is the one who finishes it, so each has one outcome.
final class Exchange: Sendable {
    private struct State {
        var task: URLSessionTask?
        var head: CheckedContinuation<HTTPResponse, any Error>?
        /// From the head's arrival until the last byte is in it, or the reader has gone. It keeps the exchange alive.
        var pipe: HTTPBodyPipe?
        /// What the pipe had no room for.
        var unread: ArraySlice<Data> = []
        var unreadCount = 0
        var received = 0
        var declared: Int?
        /// How the transfer ended, while the reader has not come to its end.
        var completion: Result<Void, HTTPTransportError>?
        /// When the head had arrived, from the start.
        var headTime: Duration?
        var isFinished = false

        var nextPiece: (HTTPBodyPipe, Data)? {
            guard let pipe, let piece = unread.first else { return nil }
            return (pipe, piece)
        }

        /// The session does not always notice that a body is shorter than declared.
        var missingBytes: HTTPTransportError? {
            guard let declared, received < declared else { return nil }
            return HTTPTransportError(.connectionLost, "the body ended after \(received) of \(declared) bytes")
        }
    }

    private let request: HTTPRequest
    private let start = ContinuousClock.now
    private let record = HTTPTransferRecord()
    private let unreadLimit: Int
    private let sessionQueue: DispatchQueue
    private let callbackQueue: OperationQueue
    private let state = Locked(State())
    let order = ResumptionOrder()

    init(_ request: HTTPRequest, unreadLimit: Int, sessionQueue: DispatchQueue, callbackQueue: OperationQueue) {
        self.request = request
        self.unreadLimit = max(0, unreadLimit)
        self.sessionQueue = sessionQueue
        self.callbackQueue = callbackQueue
    }

    /// Whether nobody waits for anything of it any more.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Returns false, and has thrown, when the task was cancelled before.
    func start(_ head: CheckedContinuation<HTTPResponse, any Error>) -> Bool {
        let isFinished = state.withLock { state in
            if !state.isFinished { state.head = head }
            return state.isFinished
        }
        if isFinished { head.resume(throwing: CancellationError()) }
        return !isFinished
    }

    /// Begins to count the time that the session does not count itself.
    func startTimers() {
        end(after: request.firstByteTimeout, "no answer began within", if: { $0.head != nil })
        end(after: request.totalTimeout, "the transfer took more than", if: { !$0.isFinished })
    }

    /// Returns false when the exchange is over, so that nobody is left who would cancel the task.
    func attach(_ task: URLSessionTask) -> Bool {
        state.withLock { state in
            if !state.isFinished { state.task = task }
            return !state.isFinished
        }
    }

    /// The head has arrived.
    func receive(_ response: HTTPURLResponse) {
        // The session shows interim answers too (RFC 9110 section 15.2).
        guard response.statusCode >= 200 else { return }
        var head = HTTPResponseHead(response, url: request.url)
        let isBodiless = request.method == .head || [204, 304].contains(head.status)
        do throws(HTTPTransportError) {
            if !isBodiless { head.fields = try head.fields.framed() }
        } catch {
            return end(error)
        }
        let pipe = HTTPBodyPipe(
            onSpace: { self.callbackQueue.addOperation { self.drain() } },
            onCancel: { self.end(CancellationError()) })
        let continuation = state.withLock { state -> CheckedContinuation<HTTPResponse, any Error>? in
            guard let continuation = state.head else { return nil }
            state.head = nil
            state.headTime = .now - start
            state.pipe = pipe
            state.declared = isBodiless ? nil : head.declaredBodyLength
            return continuation
        }
        let response = HTTPResponse(head: head, body: HTTPBody(pipe), transfer: record)
        order.willResume()
        continuation?.resume(returning: response)
    }

    /// A piece of the body has arrived.
    func receive(_ data: Data) {
        state.withLock { state in
            guard state.pipe != nil else { return }
            state.received += data.count
            state.unread.append(data)
            state.unreadCount += data.count
        }
        drain()
        guard state.withLock({ $0.unreadCount > unreadLimit }) else { return }
        end(HTTPTransportError(.bodyTooLarge, "more than \(unreadLimit) bytes of the body were left unread"))
    }

    /// The transfer is over.
    func complete(_ error: (any Error)?, response: HTTPURLResponse?) {
        if error == nil, let response, state.withLock({ $0.head != nil }) {
            // A redirect that leads nowhere: the session tells its head here, and its body not at all.
            receive(response)
            state.withLock { $0.declared = nil }
        }
        let hasHead = state.withLock { $0.head == nil }
        let failure = error.map { HTTPTransportError($0, url: request.url, hasHead: hasHead) }
        let continuation = state.withLock { state -> CheckedContinuation<HTTPResponse, any Error>? in
            state.completion = (failure ?? state.missingBytes).map { .failure($0) } ?? .success(())
            state.task = nil
            defer { state.head = nil }
            return state.head
        }
        order.willResume()
        continuation?.resume(throwing: failure ?? HTTPTransportError(.failed, "the session gave no answer"))
        drain()
    }

    /// Ends the exchange now, whatever its state. Does not block.
    func end(_ error: any Error) {
        let (continuation, pipe, task) = state.withLock { state in
            let before = (state.head, state.pipe, state.task)
            recordMetrics(state)
            state = State(isFinished: true)
            return before
        }
        order.willResume()
        continuation?.resume(throwing: error)
        pipe?.finish(error)
        // `cancel` waits for the session's queue, which may wait for whatever the caller holds.
        if let task { sessionQueue.async { task.cancel() } }
    }

    /// The session tells no metrics on Linux, so these are only what can be timed from outside.
    private func recordMetrics(_ state: State) {
        guard !state.isFinished else { return }
        var metrics = HTTPTransferMetrics()
        metrics.firstByte = state.headTime
        metrics.total = .now - start
        record.finish(metrics)
    }

    private func end(after timeout: Duration?, _ message: String, if applies: @escaping @Sendable (State) -> Bool) {
        guard let timeout else { return }
        // A day at most; more would not fit.
        let milliseconds = min(max(0, timeout.milliseconds), 86_400_000)
        sessionQueue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            guard let self, state.withLock({ applies($0) }) else { return }
            end(HTTPTransportError(.timedOut, "\(message) \(Double(milliseconds) / 1000) seconds"))
        }
    }

    /// Moves what the pipe has room for into it.
    private func drain() {
        while let (pipe, piece) = state.withLock({ $0.nextPiece }) {
            guard piece.withUnsafeBytes({ pipe.write($0) }) else { return }
            state.withLock { state in
                guard let piece = state.unread.popFirst() else { return }
                state.unreadCount -= piece.count
            }
        }
        let finished = state.withLock { state -> (HTTPBodyPipe, Result<Void, HTTPTransportError>)? in
            guard state.unread.isEmpty, let pipe = state.pipe, let completion = state.completion else { return nil }
            recordMetrics(state)
            state = State(isFinished: true)
            return (pipe, completion)
        }
        guard let (pipe, completion) = finished else { return }
        switch completion {
        case .success: pipe.finish()
        case .failure(let error): pipe.finish(error)
        }
    }
}
