import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import Dispatch
import Foundation
import FoundationNetworking

/// A request and its response.
///
/// `receive`, `complete` and all functions that write to the body's pipe run on the callback queue. `end` may be called
/// from any thread. The lock is held only to read and move values. The continuation and the pipe are each finished
/// exactly once: by the function that removes them from the state.
final class Exchange: Sendable {
    private struct State {
        var task: URLSessionTask?
        var head: CheckedContinuation<HTTPResponse, any Error>?
        /// The body's pipe, from the arrival of the head until the exchange ends. The pipe keeps the exchange alive.
        var pipe: HTTPBodyPipe?
        /// The received bytes that the pipe has not accepted yet.
        var unread: ArraySlice<Data> = []
        var unreadCount = 0
        var received = 0
        var declared: Int?
        /// The result of the transfer after its end, until the pipe has accepted all received bytes.
        var completion: Result<Void, HTTPTransportError>?
        /// The time from the creation of the exchange to the arrival of the head.
        var headTime: Duration?
        var isFinished = false

        var nextPiece: (HTTPBodyPipe, Data)? {
            guard let pipe, let piece = unread.first else { return nil }
            return (pipe, piece)
        }

        /// Returns the error for a body from `url` that is shorter than its declared length; nil for a complete body.
        /// The session does not always detect this.
        func missingBytes(of url: URL) -> HTTPTransportError? {
            guard let declared, received < declared else { return nil }
            return HTTPTransportError(
                .connectionLost, "the connection to \(url.origin) ended after \(received) of \(declared) bytes")
        }
    }

    private let request: HTTPRequest
    private let start = ContinuousClock.now
    private let record = HTTPTransferRecord()
    private let maximumUnreadByteCount: Int
    private let sessionQueue: DispatchQueue
    private let callbackQueue: OperationQueue
    private let state = Locked(State())
    let order = ResumptionOrder()

    init(
        _ request: HTTPRequest, maximumUnreadByteCount: Int, sessionQueue: DispatchQueue, callbackQueue: OperationQueue
    ) {
        self.request = request
        self.maximumUnreadByteCount = max(0, maximumUnreadByteCount)
        self.sessionQueue = sessionQueue
        self.callbackQueue = callbackQueue
    }

    /// Whether `end(_:)` has ended the exchange, or the transfer has ended and the pipe has accepted all received
    /// bytes.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Stores the continuation of the task that waits for the head. Returns false, and resumes the continuation with an
    /// error, if the task was canceled before.
    func start(_ head: CheckedContinuation<HTTPResponse, any Error>) -> Bool {
        let isFinished = state.withLock { state in
            if !state.isFinished { state.head = head }
            return state.isFinished
        }
        if isFinished { head.resume(throwing: CancellationError()) }
        return !isFinished
    }

    /// Starts the timers for timeouts that the session does not support.
    func startTimers() {
        end(after: request.firstByteTimeout, "no response from", "within", if: { $0.head != nil })
        end(after: request.totalTimeout, "the transfer from", "took longer than", if: { !$0.isFinished })
    }

    /// Stores the session's task. Returns false if the exchange has ended, so that the caller must cancel the task.
    func attach(_ task: URLSessionTask) -> Bool {
        state.withLock { state in
            if !state.isFinished { state.task = task }
            return !state.isFinished
        }
    }

    /// Processes the head of the response.
    func receive(_ response: HTTPURLResponse) {
        // The session also reports interim responses (RFC 9110 section 15.2).
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

    /// Processes a piece of the body.
    func receive(_ data: Data) {
        state.withLock { state in
            guard state.pipe != nil else { return }
            state.received += data.count
            state.unread.append(data)
            state.unreadCount += data.count
        }
        drain()
        guard state.withLock({ $0.unreadCount > maximumUnreadByteCount }) else { return }
        end(
            HTTPTransportError(
                .bodyTooLarge,
                "more than \(maximumUnreadByteCount) received bytes of the body of \(request.url.shown) were not read"))
    }

    /// Processes the end of the transfer.
    func complete(_ error: (any Error)?, response: HTTPURLResponse?) {
        if error == nil, let response, state.withLock({ $0.head != nil }) {
            // For a redirect without a usable `Location`, the session reports the head only at the end, and never
            // reports the body.
            receive(response)
            state.withLock { $0.declared = nil }
        }
        let hasHead = state.withLock { $0.head == nil }
        let failure = error.map { HTTPTransportError($0, url: request.url, hasHead: hasHead) }
        let continuation = state.withLock { state -> CheckedContinuation<HTTPResponse, any Error>? in
            state.completion = (failure ?? state.missingBytes(of: request.url)).map { .failure($0) } ?? .success(())
            state.task = nil
            defer { state.head = nil }
            return state.head
        }
        order.willResume()
        continuation?.resume(throwing: failure ?? missingResponse)
        drain()
    }

    /// The error for a session that ends without an error and without a response.
    private var missingResponse: HTTPTransportError {
        HTTPTransportError(.failed, "the session ended without a response from \(request.url.origin)")
    }

    /// Ends the exchange immediately. Does not block.
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
        // `cancel` waits for the session's queue, which may wait for a lock that the caller holds.
        if let task { sessionQueue.async { task.cancel() } }
    }

    /// Records the times that can be measured here, because the session reports no metrics on Linux.
    private func recordMetrics(_ state: State) {
        guard !state.isFinished else { return }
        var metrics = HTTPTransferMetrics()
        metrics.firstByte = state.headTime
        metrics.total = .now - start
        record.finish(metrics)
    }

    /// Ends the exchange after a timeout if `applies` returns true at that time. The error's message names the origin
    /// between `subject` and `verb`.
    private func end(
        after timeout: Duration?, _ subject: String, _ verb: String, if applies: @escaping @Sendable (State) -> Bool
    ) {
        guard let timeout else { return }
        // The time is limited to a day, because a much longer time would overflow.
        let milliseconds = min(max(0, timeout.milliseconds), 86_400_000)
        sessionQueue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            guard let self, state.withLock({ applies($0) }) else { return }
            let seconds = Double(milliseconds) / 1000
            end(HTTPTransportError(.timedOut, "\(subject) \(request.url.origin) \(verb) \(seconds) seconds"))
        }
    }

    /// Moves as many unread bytes into the pipe as the pipe accepts. Finishes the exchange if the transfer has ended
    /// and no unread byte is left.
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
