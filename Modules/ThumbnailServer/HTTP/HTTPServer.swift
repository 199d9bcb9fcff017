import Alcedo
import AlcedoHTTP
import AlcedoLibc
private import CHTTPServerShim
import AlcedoRuntime
import FoundationEssentials

/// A small HTTP/1.1 server. One thread serves all connections, and waiting requests occupy no thread.
///
/// The server rejects heads of more than 32 KiB. It rejects requests with a body before it receives the body. It closes
/// connections that are idle for longer than the client timeout. It limits the total size of the bodies that are being
/// sent, and the time for each response. Call ``stop(grace:)`` exactly once to close the server.
///
/// `@unchecked` because of the pointer and the port. Both are set before the server is shared. Later, only `stop` reads
/// and clears the pointer.
final class HTTPServer: @unchecked Sendable {
    struct Settings: Sendable {
        /// The numeric address, IPv4 or IPv6.
        var host = "127.0.0.1"
        /// The port; 0 for any free port.
        var port: UInt16 = 0
        /// The maximum number of connections. Further connections wait to be accepted.
        var maxConcurrentConnections = 1024
        /// The maximum time for which a connection may be idle. Fractions of a second are ignored.
        var clientTimeout = Duration.seconds(15)
        /// The maximum time to create a response, checked every 250 ms.
        var responseTimeout = Duration.seconds(20)
        /// The maximum time for a client to receive a response, checked every 250 ms.
        var sendingTimeout = Duration.seconds(60)
        /// The maximum number of bytes in distinct bodies that are being sent.
        var maximumSendingByteCount = 256 << 20
        /// The time for which idle connections stay open when the server stops. Requests that arrive in this time
        /// receive a response.
        var idleGracePeriod = Duration.milliseconds(250)
    }

    struct CannotListen: Error, CustomStringConvertible {
        let description: String
    }

    private static let stopping = BlockingExecutor(name: "thumbnail.stop", maxConcurrent: 1)

    private let handler: any HTTPHandling
    private let clock: any TimeSource
    private let exchanges = ServerExchangeTable()
    private let connections: OpenConnections
    private let bodies: ResponseBodyPool
    private let idleGracePeriod: Duration
    private let isStopping = Locked(false)
    private let clients: DisconnectMonitor
    private let timeoutMonitor: Task<Void, Never>
    private var server: OpaquePointer?
    /// The port on which the server listens.
    private(set) var port = 0

    /// Starts to listen. The clock measures all times except the client timeout; by default, it is the system's clock.
    ///
    /// - Throws: ``CannotListen`` if the server cannot listen on the address, or if no file descriptor is available.
    init(
        _ settings: Settings, handler: any HTTPHandling, clock: any TimeSource = SystemClock()
    ) throws(CannotListen) {
        guard let clients = DisconnectMonitor() else {
            throw CannotListen(description: "cannot listen: too many open files")
        }
        self.handler = handler
        self.clock = clock
        self.clients = clients
        connections = OpenConnections(clock: clock)
        bodies = ResponseBodyPool(limit: settings.maximumSendingByteCount)
        idleGracePeriod = settings.idleGracePeriod
        timeoutMonitor = Self.timeoutMonitor(of: exchanges, handler, settings, clock)
        var error: Int32 = 0
        // The context stays alive, because the server must be stopped before it is released.
        let callbacks = Self.callbacks(Unmanaged.passUnretained(self).toOpaque())
        server = settings.host.withCString { host in
            var settings = alcedo_http_settings(
                host: host, port: settings.port, connections: UInt32(clamping: settings.maxConcurrentConnections),
                timeout: UInt32(clamping: settings.clientTimeout.components.seconds), memory: 32 << 10)
            return alcedo_http_server_start(&settings, callbacks, &error)
        }
        guard server != nil else {
            timeoutMonitor.cancel()
            let reason = error == 0 ? "unknown reason" : String(cString: strerror(error))
            throw CannotListen(description: "cannot listen on \(settings.host), port \(settings.port): \(reason)")
        }
        port = server.map { Int(alcedo_http_server_port($0)) } ?? 0
        clients.start { [exchanges] number in exchanges[number]?.settle(.disconnected) }
    }

    /// Stops accepting connections, waits up to `grace` for the open ones to end, and then closes them. Responses in
    /// this time contain `Connection: close`. Requests that still wait after `grace` receive
    /// ``HTTPError/shuttingDown``, which may take one more second.
    func stop(grace: Duration) async {
        guard let server else { return }
        isStopping.withLock { $0 = true }
        alcedo_http_server_quiesce(server)
        // Idle connections stay open at first. If one were closed just as a request arrives, the client would see a
        // failure.
        let idleGracePeriod = min(grace, idleGracePeriod)
        await connections.waitUntilNone(for: idleGracePeriod)
        alcedo_http_server_end_idle(server)
        await connections.waitUntilNone(for: grace - idleGracePeriod)
        for exchange in exchanges.all { exchange.settle(.response(HTTPError.shuttingDown.response)) }
        // Clients need time to receive these responses.
        await connections.waitUntilNone(for: .seconds(1))
        self.server = nil
        let pointer = UInt(bitPattern: server)
        // Stopping waits for the server's thread. A new task is not canceled with the calling task.
        await Task { [self] in
            try? await Self.stopping.run {
                if let server = OpaquePointer(bitPattern: pointer) { alcedo_http_server_stop(server) }
            }
            withExtendedLifetime(self) {}
        }.value
        clients.end()
        timeoutMonitor.cancel()
    }

    /// Starts a task that ends requests that exceed their time limits. One task monitors all requests. If each request
    /// had its own sleep, the sleep would stay in memory until its end, even after cancellation. At thousands of
    /// requests a second, these sleeps would occupy about 100 MB.
    private static func timeoutMonitor(
        of exchanges: ServerExchangeTable, _ handler: any HTTPHandling, _ settings: Settings, _ clock: any TimeSource
    ) -> Task<Void, Never> {
        Task {
            while (try? await clock.sleep(for: min(settings.responseTimeout, .milliseconds(250)))) != nil {
                let now = clock.uptime
                for exchange in exchanges.all {
                    if exchange.outcome == nil, now - exchange.begin > settings.responseTimeout {
                        exchange.settle(.response(handler.timeoutResponse(to: exchange.head)))
                    }
                    exchange.closeIfSlow(now, limit: settings.sendingTimeout)
                }
            }
        }
    }

    private static func callbacks(_ context: UnsafeMutableRawPointer) -> alcedo_http_callbacks {
        alcedo_http_callbacks(
            context: context,
            on_request: { context, request in
                guard let context else { return ALCEDO_HTTP_CLOSE }
                return Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue().begin(request)
            },
            on_resumed: { context, request in
                guard let context else { return ALCEDO_HTTP_CLOSE }
                return Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue().resume(request)
            },
            on_end: { context, request, isSent in
                guard let context else { return }
                Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue().end(request, isSent: isSent != 0)
            },
            on_connection: { context, isOpen in
                guard let context else { return }
                let connections = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue().connections
                if isOpen != 0 { connections.opened() } else { connections.closed() }
            })
    }

    private func begin(_ request: OpaquePointer) -> alcedo_http_step {
        let head = RequestHead(request)
        let (clients, socket, address) = (clients, alcedo_http_socket(request), UInt(bitPattern: request))
        let exchange = ServerExchange(
            number: exchanges.makeNumber(), head: head, close: { _ = shutdown(socket, Int32(SHUT_RDWR)) },
            resume: {
                clients.unwatch(socket)
                if let request = OpaquePointer(bitPattern: address) { alcedo_http_resume(request) }
            }, clock: clock)
        exchanges.add(exchange)
        alcedo_http_set_token(request, Unmanaged.passRetained(exchange).toOpaque())
        switch head.hasBody ? .response(Self.rejectBody(head)) : handler.respond(to: head) {
        case .response(let response): return send(response, exchange, request)
        case .asynchronous(let operation):
            alcedo_http_suspend(request)
            // The watch begins before the operation. The operation may finish immediately and then ends the watch.
            clients.watch(socket, exchange.number)
            exchange.start(operation)
            return ALCEDO_HTTP_WAIT
        }
    }

    /// Returns the response to a request with a body: 400 for GET and HEAD, 405 for other methods.
    private static func rejectBody(_ head: RequestHead) -> ServerResponse {
        let isKnown = ["GET", "HEAD"].contains(head.method)
        return isKnown ? HTTPError(400, "a request body is not allowed").response : HTTPError.methodNotAllowed.response
    }

    private func resume(_ request: OpaquePointer) -> alcedo_http_step {
        guard let exchange = Self.exchange(of: request), case .response(let response)? = exchange.outcome else {
            return ALCEDO_HTTP_CLOSE
        }
        return send(response, exchange, request)
    }

    private func end(_ request: OpaquePointer, isSent: Bool) {
        guard let token = alcedo_http_token(request) else { return }
        alcedo_http_set_token(request, nil)
        let exchange = Unmanaged<ServerExchange>.fromOpaque(token).takeRetainedValue()
        let sent = exchange.end().flatMap { isSent ? $0 : nil }
        handler.requestEnded(
            exchange.head, status: sent?.status, byteCount: sent?.byteCount ?? 0,
            duration: clock.uptime - exchange.begin)
        exchanges.remove(exchange)
    }

    private func send(
        _ response: ServerResponse, _ exchange: ServerExchange, _ request: OpaquePointer
    ) -> alcedo_http_step {
        var (response, reference) = (response, nil as ResponseBodyPool.Reference?)
        if response.body.count > ResponseBodyPool.copyLimit {
            reference = bodies.acquire(response.body, isImmediate: exchange.hasNoBody(response))
            if reference == nil { response = handler.overloadResponse() }
        }
        if isStopping.withLock({ $0 }) { response.fields["Connection"] = "close" }
        exchange.willSend(response)
        return response.send(as: request, reference) ? ALCEDO_HTTP_REPLIED : ALCEDO_HTTP_CLOSE
    }

    private static func exchange(of request: OpaquePointer) -> ServerExchange? {
        alcedo_http_token(request).map { Unmanaged<ServerExchange>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// A handler that creates the responses of a server. Methods must not block. They run on the server's thread, with two
/// exceptions: ``timeoutResponse(to:)`` runs in a task, and ``requestEnded(_:status:byteCount:duration:)`` may also run
/// on the thread that stops the server.
protocol HTTPHandling: Sendable {
    func respond(to head: RequestHead) -> HandlerResult
    /// Returns the response that is sent instead of one whose body would exceed the limit on the bytes being sent.
    func overloadResponse() -> ServerResponse
    /// Returns the response that is sent if no other response to the request was created in time.
    func timeoutResponse(to head: RequestHead) -> ServerResponse
    /// Reports the end of a request. If the client did not receive the complete response, the status is nil and the
    /// byte count is zero.
    func requestEnded(_ head: RequestHead, status: Int?, byteCount: Int, duration: Duration)
}

/// A monitor of clients that disconnect while their requests are suspended. It has its own thread.
///
/// `@unchecked` because of the pointer. The functions that take it are thread-safe, and the thread keeps the monitor
/// alive until it ends.
private final class DisconnectMonitor: @unchecked Sendable {
    private let disconnects: OpaquePointer

    /// Creates a monitor. Returns nil if no file descriptor or no memory is available.
    init?() {
        guard let disconnects = alcedo_http_disconnects_create() else { return nil }
        self.disconnects = disconnects
    }

    /// Starts the thread.
    ///
    /// - Parameter onDisconnect: Receives the number under which the socket is watched.
    func start(_ onDisconnect: @escaping @Sendable (UInt64) -> Void) {
        LoopThread.start { [self] in
            while case let number = alcedo_http_disconnects_next(disconnects), number != 0 { onDisconnect(number) }
        }
    }

    deinit { alcedo_http_disconnects_destroy(disconnects) }

    func watch(_ socket: Int32, _ number: UInt64) { _ = alcedo_http_disconnects_watch(disconnects, socket, number) }

    func unwatch(_ socket: Int32) { alcedo_http_disconnects_unwatch(disconnects, socket) }

    func end() { alcedo_http_disconnects_end(disconnects) }
}

/// A count of open connections, with callers that wait until it is zero.
final class OpenConnections: Sendable {
    private struct State: Sendable {
        var count = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let clock: any TimeSource
    private let state = Locked(State())

    /// Creates a count of zero. The clock measures the limits of waits; by default, it is the system's clock.
    init(clock: any TimeSource = SystemClock()) { self.clock = clock }

    func opened() { state.withLock { $0.count += 1 } }

    func closed() {
        let waiters = state.withLock { state in
            state.count -= 1
            return state.count == 0 ? Self.takeWaiters(&state) : []
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when no connection is open or the limit has elapsed.
    func waitUntilNone(for limit: Duration) async {
        guard limit > .zero else { return }
        var alarm: Task<Void, Never>?
        await withCheckedContinuation { continuation in
            let isNone = state.withLock { state in
                if state.count > 0 { state.waiters.append(continuation) }
                return state.count == 0
            }
            guard !isNone else { return continuation.resume() }
            // The alarm starts after the waiter is registered, because it would otherwise miss the waiter.
            alarm = Task {
                // A canceled alarm must not resume later waiters.
                guard (try? await clock.sleep(for: limit)) != nil else { return }
                for waiter in state.withLock({ Self.takeWaiters(&$0) }) { waiter.resume() }
            }
        }
        alarm?.cancel()
    }

    private static func takeWaiters(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        defer { state.waiters = [] }
        return state.waiters
    }
}
