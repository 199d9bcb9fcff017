import AlcedoCore
public import AlcedoHTTP
import AlcedoRuntime
import Dispatch
import Foundation
import FoundationNetworking

/// Sends requests by FoundationNetworking's `URLSession`: portable, needs no library of its own.
///
/// One long-lived session with delegate tasks serves all requests. Neither of the simpler ways can keep the contract of
/// ``/AlcedoHTTP/HTTPTransport``: tasks with a completion handler hold the whole body in memory, follow redirects that only a
/// delegate can refuse, and leave a 401 with a challenge unanswered; the `async` methods deadlock when they are
/// cancelled (swift-corelibs-foundation issue 5412, Swift 6.3). A delegate is as safe as a completion handler: both run
/// on the delegate queue, never under a lock of the session. Nothing of the session is called under a lock or in a
/// cancellation handler here, but on a queue of its own.
///
/// Cookies, the URL cache and stored credentials are off. What FoundationNetworking (6.3, on Linux) cannot do:
/// - **Survive every server.** It ends the process when a connection is closed inside the head of an answer, when a
///   chunked body has trailer fields, and when a Content-Length is about 2^63. This cannot be caught here. Use it with
///   servers you trust, and the libcurl transport for the open internet.
/// - **Slow a server down.** It has no back-pressure: what the reader leaves unread is held in memory up to
///   `unreadLimit`, and then the transfer ends with `bodyTooLarge`. The body of a redirect is not seen before
///   its end, so no limit holds for it; that of a redirect without a usable Location is lost (an empty one is given).
/// - **Time precisely.** The idle timeout is whole seconds, rounded up, and the wait for one of the
///   `maxConcurrentConnectionsPerHost` connections counts as idle, and for the other timeouts too. The first byte is the end of the head.
/// - **Send and keep fields as they are.** Only ASCII values can be sent, and lines of one name are joined. Fields of an
///   answer come without their order, sorted by name here; a response with a byte above 127 that is not UTF-8,
///   or without the space after its status code, is refused as `connectionLost`.
/// - **Tell all errors apart.** Malformed fields, chunks and content codings have no code of their own, nor has a
///   network without a route. They are `connectionLost`; before the head of an HTTPS response,
///   `secureConnectionFailed`. The description has libcurl's text.
/// - **Tell interim answers**, or give coded bytes: a content coding is always undone where it knows it, whatever the
///   request says, and `decodesContent` of the libcurl transport has no counterpart.
/// - **Trust other certificates** than the system's, or pin one; set priorities.
/// - **Keep escaped dot segments.** libcurl 8.14 sends `/x/%2e%2e/b` as `/b`, 7.88 as it is; cache keys tell
///   the two apart.
/// - **Report metrics.** ``/AlcedoHTTP/HTTPResponse/metrics`` has `firstByte`, that of the head's end, and `total`.
/// - **Say that there is no network**: offline, names are `cannotResolveHost`.
public final class URLSessionTransport: HTTPTransport {
    private let session: URLSession
    private let exchanges = ExchangeTable()
    /// Every call into the session is made here: most of them wait for the session's own queue.
    private let sessionQueue = DispatchQueue(label: "URLSessionTransport.control")
    private let callbackQueue = OperationQueue()
    private let unreadLimit: Int

    /// Creates a transport with an ephemeral session of its own, without caches, cookies and credentials.
    ///
    /// - Parameters:
    ///   - maxConcurrentConnectionsPerHost: The maximum number of connections to one host; further requests wait.
    ///     Default: 6.
    ///   - unreadLimit: The maximum number of bytes that one response may have received and its reader not read; more
    ///     are `bodyTooLarge`. Default: 64 MiB.
    public init(maxConcurrentConnectionsPerHost: Int = 6, unreadLimit: Int = 64 << 20) {
        self.unreadLimit = unreadLimit
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.httpMaximumConnectionsPerHost = max(1, maxConcurrentConnectionsPerHost)
        // The order of one task's callbacks is the order of its bytes.
        callbackQueue.maxConcurrentOperationCount = 1
        callbackQueue.name = "URLSessionTransport.callbacks"
        session = URLSession(
            configuration: configuration, delegate: SessionDelegate(exchanges), delegateQueue: callbackQueue)
    }

    deinit {
        // Bodies that are still read run to their end; after that the session lets go of its delegate.
        sessionQueue.async { [session, exchanges] in
            if exchanges.close() { session.finishTasksAndInvalidate() }
        }
    }

    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let urlRequest = try URLRequest(request)
        try Task.checkCancellation()
        let exchange = Exchange(
            request, unreadLimit: unreadLimit, sessionQueue: sessionQueue, callbackQueue: callbackQueue)
        defer { exchange.order.didResume() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard exchange.start(continuation) else { return }
                sessionQueue.async { [session, exchanges] in Self.begin(exchange, urlRequest, session, exchanges) }
            }
        } onCancel: {
            exchange.end(CancellationError())
        }
    }

    /// Ends every exchange with `shutDown`, and every later request too.
    public func shutDown() {
        sessionQueue.async { [session, exchanges] in
            let running = exchanges.all
            // A session that is invalid must not be asked for a task, nor be invalidated again.
            if exchanges.close() { session.finishTasksAndInvalidate() }
            for exchange in running { exchange.end(Self.isShutDown) }
        }
    }

    private static let isShutDown = HTTPTransportError(.shutDown, "the transport has been shut down")

    private static func begin(
        _ exchange: Exchange, _ request: URLRequest, _ session: URLSession, _ exchanges: ExchangeTable
    ) {
        guard !exchanges.isClosed else { return exchange.end(isShutDown) }
        guard !exchange.isFinished else { return }
        exchange.startTimers()
        let task = session.dataTask(with: request)
        exchanges.add(exchange, task.taskIdentifier)
        if exchange.attach(task) { task.resume() } else { task.cancel() }
    }
}

/// Hands the session's callbacks to the exchange each belongs to. All come on the delegate queue, one at a time.
private final class SessionDelegate: NSObject, URLSessionDataDelegate {
    private let exchanges: ExchangeTable

    init(_ exchanges: ExchangeTable) { self.exchanges = exchanges }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.allow)
        if let response = response as? HTTPURLResponse { exchanges[dataTask.taskIdentifier]?.receive(response) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchanges[dataTask.taskIdentifier]?.receive(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The session then gives the redirect itself as the answer.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // The challenge comes after the whole 401 has arrived. There is no way to decline it and keep the answer: the
        // session can only try a credential or fail, so the exchange is completed first.
        exchanges.remove(task.taskIdentifier)?.complete(nil, response: task.response as? HTTPURLResponse)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = exchanges.remove(task.taskIdentifier)
        exchange?.complete(error, response: task.response as? HTTPURLResponse)
    }
}

/// The exchanges that run, by the session's task numbers.
private final class ExchangeTable: Sendable {
    private struct State {
        var exchanges: [Int: Exchange] = [:]
        var isClosed = false
    }

    private let state = Locked(State())

    var all: [Exchange] { state.withLock { Array($0.exchanges.values) } }

    /// Whether no more exchanges may begin.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    subscript(task: Int) -> Exchange? { state.withLock { $0.exchanges[task] } }

    func add(_ exchange: Exchange, _ task: Int) { state.withLock { $0.exchanges[task] = exchange } }

    func remove(_ task: Int) -> Exchange? { state.withLock { $0.exchanges.removeValue(forKey: task) } }

    /// Returns whether it was open until now.
    func close() -> Bool {
        state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
    }
}
