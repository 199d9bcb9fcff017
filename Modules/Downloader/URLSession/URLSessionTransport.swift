import AlcedoCore
public import AlcedoHTTP
import AlcedoRuntime
import Dispatch
import Foundation
import FoundationNetworking

/// A transport that sends requests with FoundationNetworking's `URLSession`. It is portable and needs no other library.
///
/// ```swift
/// import AlcedoDownloader
/// import AlcedoURLSession
///
/// let downloader = Downloader(transport: URLSessionTransport(maxConcurrentConnectionsPerHost: 4))
/// ```
///
/// Use it only with servers that you trust: some malformed responses end the process, which this transport cannot
/// prevent. Cookies, the URL cache and stored credentials are off. Unread bytes are held in memory up to
/// `maximumUnreadByteCount`; beyond that, the transfer fails with `bodyTooLarge`. The idle timeout is rounded up to
/// whole seconds. The page of the module lists all limitations of FoundationNetworking.
public final class URLSessionTransport: HTTPTransport {
    private let session: URLSession
    private let exchanges = ExchangeTable()
    /// The queue on which all calls to the session run. Most of these calls wait for the session's own queue.
    private let sessionQueue = DispatchQueue(label: "URLSessionTransport.control")
    private let callbackQueue = OperationQueue()
    private let maximumUnreadByteCount: Int

    /// Creates a transport with its own ephemeral session, without caches, cookies and credentials.
    ///
    /// - Parameters:
    ///   - maxConcurrentConnectionsPerHost: The maximum number of connections to one host. Further requests wait.
    ///     Values below 1 count as 1. Default: 6.
    ///   - maximumUnreadByteCount: The maximum number of bytes of one response that are received but not yet read. If
    ///     there are more, the transfer fails with `bodyTooLarge`. Default: 64 MiB.
    public init(maxConcurrentConnectionsPerHost: Int = 6, maximumUnreadByteCount: Int = 64 << 20) {
        self.maximumUnreadByteCount = maximumUnreadByteCount
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.httpMaximumConnectionsPerHost = max(1, maxConcurrentConnectionsPerHost)
        // Callbacks run one at a time, because their order is the order of the bytes.
        callbackQueue.maxConcurrentOperationCount = 1
        callbackQueue.name = "URLSessionTransport.callbacks"
        session = URLSession(
            configuration: configuration, delegate: SessionDelegate(exchanges), delegateQueue: callbackQueue)
    }

    deinit {
        // Bodies that are being read continue to their end. The session releases its delegate after that.
        sessionQueue.async { [session, exchanges] in
            if exchanges.close() { session.finishTasksAndInvalidate() }
        }
    }

    /// Sends a request. Returns when the head of the response has arrived.
    ///
    /// - Throws: ``/AlcedoHTTP/HTTPTransportError`` if the request is invalid or the exchange fails before the head has
    ///   arrived, or `CancellationError` if the task is canceled.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let urlRequest = try URLRequest(request)
        try Task.checkCancellation()
        let exchange = Exchange(
            request, maximumUnreadByteCount: maximumUnreadByteCount, sessionQueue: sessionQueue,
            callbackQueue: callbackQueue)
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

    /// Ends all exchanges with `shutDown`, and rejects later requests with the same error. Does not wait for the
    /// exchanges to end.
    public func shutDown() {
        sessionQueue.async { [session, exchanges] in
            let running = exchanges.all
            // An invalidated session must not be asked for a task or invalidated again.
            if exchanges.close() { session.finishTasksAndInvalidate() }
            for exchange in running { exchange.end(Self.shutDownError) }
        }
    }

    private static let shutDownError = HTTPTransportError(.shutDown, "the transport has been shut down")

    private static func begin(
        _ exchange: Exchange, _ request: URLRequest, _ session: URLSession, _ exchanges: ExchangeTable
    ) {
        guard !exchanges.isClosed else { return exchange.end(shutDownError) }
        guard !exchange.isFinished else { return }
        exchange.startTimers()
        let task = session.dataTask(with: request)
        exchanges.add(exchange, task.taskIdentifier)
        if exchange.attach(task) { task.resume() } else { task.cancel() }
    }
}

/// A delegate that passes the session's callbacks to their exchanges. All callbacks run on the delegate queue, one at a
/// time.
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
        // The session then returns the redirect itself as the response.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // The challenge arrives after the whole 401 response. The session can only try a credential or fail, and a
        // failure would discard the response. The exchange is therefore completed first.
        exchanges.remove(task.taskIdentifier)?.complete(nil, response: task.response as? HTTPURLResponse)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = exchanges.remove(task.taskIdentifier)
        exchange?.complete(error, response: task.response as? HTTPURLResponse)
    }
}

/// The running exchanges by the identifier of their session task.
private final class ExchangeTable: Sendable {
    private struct State {
        var exchanges: [Int: Exchange] = [:]
        var isClosed = false
    }

    private let state = Locked(State())

    var all: [Exchange] { state.withLock { Array($0.exchanges.values) } }

    /// Whether new exchanges are rejected.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    subscript(task: Int) -> Exchange? { state.withLock { $0.exchanges[task] } }

    func add(_ exchange: Exchange, _ task: Int) { state.withLock { $0.exchanges[task] = exchange } }

    func remove(_ task: Int) -> Exchange? { state.withLock { $0.exchanges.removeValue(forKey: task) } }

    /// Closes the table. Returns whether it was open before.
    func close() -> Bool {
        state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
    }
}
