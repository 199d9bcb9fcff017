import Alcedo
import AlcedoHTTP
import AlcedoLibc
import AlcedoRuntime
private import CHTTPServerShim
import FoundationEssentials

/// A small HTTP/1.1 server. One thread serves all connections, and waiting requests occupy no thread.
///
/// The server rejects heads that are ambiguous or have more than 32 KiB, and then closes the connection. It rejects
/// requests with a body before it receives the body. It closes connections that are idle for longer than the client
/// timeout, or whose head is not complete after the head timeout. When all connections are in use, a new one takes the
/// place of the one that has waited longest without a complete head. A few more are served if their request needs no
/// thumbnail. The server limits the total size of the bodies that are being sent, and the time for each response, and
/// closes connections of clients that receive too slowly to meet this time. Call ``stop(grace:)`` exactly once to close
/// the server.
final class HTTPServer: Sendable {
    struct Settings: Sendable {
        /// The numeric address, IPv4 or IPv6.
        var host = "127.0.0.1"
        /// The port; 0 for any free port.
        var port: UInt16 = 0
        /// The maximum number of connections. Further connections wait to be accepted.
        var maxConcurrentConnections = 1024
        /// The maximum number of connections from one IPv4 address or one IPv6 network of 64 bits. Further connections
        /// receive 503. Default: no limit, for a server behind a proxy.
        var maxConcurrentConnectionsPerClient = Int.max
        /// The maximum time for which a connection may be idle, checked every 250 ms.
        var clientTimeout = Duration.seconds(15)
        /// The maximum time from the first byte of a head to its last, checked every 250 ms.
        var headTimeout = Duration.seconds(10)
        /// The maximum time to create a response, checked every 250 ms.
        var responseTimeout = Duration.seconds(20)
        /// The maximum time for a client to receive a response, checked every 250 ms. From a sixth of this time on, a
        /// client must have received the part of the response that corresponds to the time since then.
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

    private let exchanges = ServerExchangeTable()
    private let connections: OpenConnections
    private let mailbox: LoopMailbox
    private let idleGracePeriod: Duration
    private let timeoutMonitor: Task<Void, Never>
    /// The port on which the server listens.
    let port: Int

    /// Starts to listen. The clock measures all times; by default, it is the system's clock. A lack of file descriptors
    /// is reported to `log`; by default, it is not reported.
    ///
    /// - Throws: ``CannotListen`` if the server cannot listen on the address, or if no file descriptor is available.
    init(
        _ settings: Settings, handler: any HTTPHandling, clock: any TimeSource = SystemClock(),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(CannotListen) {
        func opened(_ descriptor: Int32) throws(CannotListen) -> Int32 {
            guard descriptor < 0 else { return descriptor }
            let reason = String(cString: strerror(-descriptor))
            throw CannotListen(description: "cannot listen on \(settings.host), port \(settings.port): \(reason)")
        }
        mailbox = LoopMailbox(wakeup: try opened(alcedo_http_wakeup_create()))
        let poll = try opened(alcedo_http_poll_create())
        let listener: Int32
        do throws(CannotListen) {
            listener = try opened(alcedo_http_listen(settings.host, settings.port))
        } catch {
            close(poll)
            throw error
        }
        port = Int(alcedo_http_port(listener))
        idleGracePeriod = settings.idleGracePeriod
        connections = OpenConnections(clock: clock)
        let context = LoopContext(
            settings: settings, handler: handler, clock: clock, exchanges: exchanges, connections: connections,
            bodies: ResponseBodyPool(limit: settings.maximumSendingByteCount), log: log)
        timeoutMonitor = Self.timeoutMonitor(context, mailbox)
        LoopThread.start { [mailbox] in
            ConnectionLoop(context, mailbox: mailbox, poll: poll, listener: listener).run()
        }
    }

    /// Stops accepting connections, waits up to `grace` for the open ones to end, and then closes them. Responses in
    /// this time contain `Connection: close`. Requests that still wait after `grace` receive
    /// ``HTTPError/shuttingDown``, which may take one more second.
    func stop(grace: Duration) async {
        mailbox.post(.stopAccepting)
        // Idle connections stay open at first. If one were closed just as a request arrives, the client would see a
        // failure.
        let idleGracePeriod = min(grace, idleGracePeriod)
        await connections.waitUntilNone(for: idleGracePeriod)
        mailbox.post(.endIdle)
        await connections.waitUntilNone(for: grace - idleGracePeriod)
        for exchange in exchanges.all { exchange.settle(.response(HTTPError.shuttingDown.response)) }
        // Clients need time to receive these responses.
        await connections.waitUntilNone(for: .seconds(1))
        await withCheckedContinuation { continuation in mailbox.post(.stop { continuation.resume() }) }
        timeoutMonitor.cancel()
    }

    /// Starts a task that ends requests and connections that exceed their time limits. One task monitors all of them.
    /// If each request had its own sleep, the sleep would stay in memory until its end, even after cancellation. At
    /// thousands of requests a second, these sleeps would occupy about 100 MB.
    private static func timeoutMonitor(_ context: LoopContext, _ mailbox: LoopMailbox) -> Task<Void, Never> {
        let settings = context.settings
        return Task {
            while (try? await context.clock.sleep(for: min(settings.responseTimeout, .milliseconds(250)))) != nil {
                let now = context.clock.uptime
                for exchange in context.exchanges.all {
                    if exchange.outcome == nil, now - exchange.begin > settings.responseTimeout {
                        exchange.settle(.response(context.handler.timeoutResponse(to: exchange.head)))
                    }
                }
                mailbox.post(.sweep)
            }
        }
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
