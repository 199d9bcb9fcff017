import Alcedo
import AlcedoHTTP
import AlcedoLibc
private import CHTTPServerShim
import AlcedoRuntime
import FoundationEssentials

/// A small HTTP/1.1 server: one thread for all connections, and none for requests that wait.
///
/// Heads of more than 32 KiB are refused, connections that say nothing for a time are closed, requests with a body are
/// refused before it comes. Answers that clients are slow to take have a limit together, and a time each. Close it by
/// ``stop(grace:)``, once.
///
/// `@unchecked` because of the pointer: it is set before the server is given out, and used by its own thread and in `stop`.
final class HTTPServer: @unchecked Sendable {
    struct Settings: Sendable {
        /// A number, of version 4 or 6.
        var host = "127.0.0.1"
        /// 0 for one that is free.
        var port: UInt16 = 0
        var maximumConnections = 1024
        /// How long a connection may be without a byte.
        var clientTimeout = Duration.seconds(15)
        /// How long an answer may take to make, to a quarter of a second.
        var responseTimeout = Duration.seconds(20)
        /// How long a client may take to get an answer, to a quarter of a second.
        var sendingTimeout = Duration.seconds(60)
        /// Most bytes of different bodies that are being sent.
        var sendingLimit = 256 << 20
        /// How long connections without a request are kept when the server stops: what is asked meanwhile is answered.
        var idleGracePeriod = Duration.milliseconds(250)
    }

    struct CannotListen: Error, CustomStringConvertible {
        let description: String
    }

    private static let stopping = BlockingExecutor(name: "thumbnail.stop", width: 1)

    private let handler: any HTTPHandling
    private let exchanges = ExchangeTable()
    private let connections = OpenConnections()
    private let bodies: ResponseBodyPool
    private let idleGracePeriod: Duration
    private let isStopping = Locked(false)
    private let clients: DisconnectMonitor
    private let timeoutMonitor: Task<Void, Never>
    private var server: OpaquePointer?

    /// Listens from now on.
    init(_ settings: Settings, handler: any HTTPHandling) throws(CannotListen) {
        guard let clients = DisconnectMonitor() else {
            throw CannotListen(description: "there are too many open files")
        }
        self.handler = handler
        self.clients = clients
        bodies = ResponseBodyPool(limit: settings.sendingLimit)
        idleGracePeriod = settings.idleGracePeriod
        timeoutMonitor = Self.timeoutMonitor(of: exchanges, handler, settings)
        var error: Int32 = 0
        // Alive until the server has been stopped, which it is before it is let go.
        let callbacks = Self.callbacks(Unmanaged.passUnretained(self).toOpaque())
        server = settings.host.withCString { host in
            var settings = alcedo_http_settings(
                host: host, port: settings.port, connections: UInt32(clamping: settings.maximumConnections),
                timeout: UInt32(clamping: settings.clientTimeout.components.seconds), memory: 32 << 10)
            return alcedo_http_server_start(&settings, callbacks, &error)
        }
        guard server != nil else {
            timeoutMonitor.cancel()
            let reason = error == 0 ? "it is not known why" : String(cString: strerror(error))
            throw CannotListen(description: "cannot listen on \(settings.host), port \(settings.port): \(reason)")
        }
        clients.start { [exchanges] number in exchanges[number]?.settle(.disconnected) }
    }

    var port: Int { server.map { Int(alcedo_http_server_port($0)) } ?? 0 }

    /// Accepts no more connections, lets those that there are end with an answer that says so, up to the grace, and then
    /// ends them.
    func stop(grace: Duration) async {
        guard let server else { return }
        isStopping.withLock { $0 = true }
        alcedo_http_server_quiesce(server)
        // A connection that is ended just when a request is on its way looks like a failure.
        let idleGracePeriod = min(grace, idleGracePeriod)
        await connections.waitUntilNone(for: idleGracePeriod)
        alcedo_http_server_end_idle(server)
        await connections.waitUntilNone(for: grace - idleGracePeriod)
        for exchange in exchanges.all { exchange.settle(.response(HTTPError.shuttingDown.response)) }
        // The answers have to go out, to those who read.
        await connections.waitUntilNone(for: .seconds(1))
        self.server = nil
        let pointer = UInt(bitPattern: server)
        // Waits for the thread. It cannot be cancelled here: the task is new.
        await Task { [self] in
            try? await Self.stopping.run {
                if let server = OpaquePointer(bitPattern: pointer) { alcedo_http_server_stop(server) }
            }
            withExtendedLifetime(self) {}
        }.value
        clients.end()
        timeoutMonitor.cancel()
    }

    /// Ends what takes too long. One for all requests: a sleep of each its own stays in memory to its end, also when it has
    /// been cancelled, which at thousands of requests a second is a hundred megabytes.
    private static func timeoutMonitor(
        of exchanges: ExchangeTable, _ handler: any HTTPHandling, _ settings: Settings
    ) -> Task<Void, Never> {
        Task {
            while (try? await Task.sleep(for: min(settings.responseTimeout, .milliseconds(250)))) != nil {
                let now = ContinuousClock.now
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
        let exchange = Exchange(
            number: exchanges.makeNumber(), head: head, close: { _ = shutdown(socket, Int32(SHUT_RDWR)) },
            resume: {
                clients.unwatch(socket)
                if let request = OpaquePointer(bitPattern: address) { alcedo_http_resume(request) }
            })
        exchanges.add(exchange)
        alcedo_http_set_token(request, Unmanaged.passRetained(exchange).toOpaque())
        switch head.hasBody ? .response(Self.rejectBody(head)) : handler.respond(to: head) {
        case .response(let response): return send(response, exchange, request)
        case .asynchronous(let operation):
            alcedo_http_suspend(request)
            // Before the work, which may be done at once, and then forgets the socket.
            clients.watch(socket, exchange.number)
            exchange.start(operation)
            return ALCEDO_HTTP_WAIT
        }
    }

    /// What has a body is of another method than there are, or a GET that has no business with one.
    private static func rejectBody(_ head: RequestHead) -> ServerResponse {
        let isKnown = ["GET", "HEAD"].contains(head.method)
        return isKnown ? HTTPError(400, "a body is not wanted").response : HTTPError.methodNotAllowed.response
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
        let exchange = Unmanaged<Exchange>.fromOpaque(token).takeRetainedValue()
        let sent = exchange.end().flatMap { isSent ? $0 : nil }
        handler.requestEnded(
            exchange.head, status: sent?.status, byteCount: sent?.byteCount ?? 0,
            duration: ContinuousClock.now - exchange.begin)
        exchanges.remove(exchange)
    }

    private func send(_ response: ServerResponse, _ exchange: Exchange, _ request: OpaquePointer) -> alcedo_http_step {
        var (response, reference) = (response, nil as ResponseBodyPool.Reference?)
        if response.body.count > ResponseBodyPool.copyLimit {
            reference = bodies.acquire(response.body, isImmediate: exchange.hasNoBody(response))
            if reference == nil { response = handler.overloadResponse() }
        }
        if isStopping.withLock({ $0 }) { response.fields["Connection"] = "close" }
        exchange.willSend(response)
        return response.send(as: request, reference) ? ALCEDO_HTTP_REPLIED : ALCEDO_HTTP_CLOSE
    }

    private static func exchange(of request: OpaquePointer) -> Exchange? {
        alcedo_http_token(request).map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// What a server asks for its answers. Calls come from the server's own thread and must not block.
protocol HTTPHandling: Sendable {
    func respond(to head: RequestHead) -> HandlerResult
    /// What is sent in the place of an answer for which there is no room beside those that are on their way.
    func overloadResponse() -> ServerResponse
    /// What is sent in the place of an answer that is not there in time.
    func timeoutResponse(to head: RequestHead) -> ServerResponse
    /// A request is over.
    ///
    /// - Parameter status: What it was answered with; nil when the client went before its answer had gone out whole.
    func requestEnded(_ head: RequestHead, status: Int?, byteCount: Int, duration: Duration)
}

/// Notices clients that go away while they wait, on a thread of its own.
///
/// `@unchecked` because of the pointer: any thread may call what takes it, and the thread that waits is the last to use it.
private final class DisconnectMonitor: @unchecked Sendable {
    private let disconnects: OpaquePointer

    /// Nil when the system has no descriptor for it.
    init?() {
        guard let disconnects = alcedo_http_disconnects_create() else { return nil }
        self.disconnects = disconnects
    }

    /// - Parameter onDeparture: Gets the number that the socket was watched under.
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

/// Counts the connections there are, for who waits until there is none.
final class OpenConnections: Sendable {
    private struct State: Sendable {
        var count = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func opened() { state.withLock { $0.count += 1 } }

    func closed() {
        let waiters = state.withLock { state in
            state.count -= 1
            return state.count == 0 ? Self.takeWaiters(&state) : []
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when there is none, or the time is up.
    func waitUntilNone(for limit: Duration) async {
        guard limit > .zero else { return }
        var alarm: Task<Void, Never>?
        await withCheckedContinuation { continuation in
            let isNone = state.withLock { state in
                if state.count > 0 { state.waiters.append(continuation) }
                return state.count == 0
            }
            guard !isNone else { return continuation.resume() }
            // Not before there is a waiter, whom it would miss.
            alarm = Task {
                // One that is cancelled must not resume those who wait then.
                guard (try? await Task.sleep(for: limit)) != nil else { return }
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
