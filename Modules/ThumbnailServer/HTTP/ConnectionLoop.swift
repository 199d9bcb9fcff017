import Alcedo
import AlcedoLibc
import AlcedoRuntime
private import CHTTPServerShim
import FoundationEssentials

/// The commands to a loop, from any thread.
final class LoopMailbox: Sendable {
    enum Command: Sendable {
        /// The exchange of a connection, by its number, has its outcome.
        case resume(UInt64)
        /// Closes the connections whose time is over.
        case sweep
        case stopAccepting
        /// Closes the connections without a request, and later each other connection after its response.
        case endIdle
        /// Closes all connections, ends the loop, and then calls the closure.
        case stop(@Sendable () -> Void)
    }

    let wakeup: Int32
    private let commands = Locked<[Command]>([])

    init(wakeup: Int32) { self.wakeup = wakeup }

    deinit { close(wakeup) }

    func post(_ command: Command) {
        let isFirst = commands.withLock { commands in
            commands.append(command)
            return commands.count == 1
        }
        if isFirst { alcedo_http_wake(wakeup) }
    }

    func takeAll() -> [Command] {
        commands.withLock { commands in
            defer { commands = [] }
            return commands
        }
    }
}

/// The parts of a server that its loop calls.
struct LoopContext: Sendable {
    let settings: HTTPServer.Settings
    let handler: any HTTPHandling
    let clock: any TimeSource
    let exchanges: ServerExchangeTable
    let connections: OpenConnections
    let bodies: ResponseBodyPool
    /// Receives a message about a lack of file descriptors.
    let log: @Sendable (String) -> Void
}

/// The event loop of a server. It is used only on the thread that created it.
final class ConnectionLoop {
    /// The number of connections beyond the limit. They are served only if their response is short and immediate, so
    /// that the state of a busy server can be requested.
    private static let reserve = 8
    /// The maximum length of the body of a response on a connection beyond the limit. The system buffers as much for a
    /// client that reads nothing.
    private static let maximumReservedByteCount = 32 << 10
    /// The time after which a connection without a complete head may be closed for a new one.
    private static let minimumWait = Duration.seconds(1)
    /// The maximum time for which a client may send after its last response.
    private static let drainingTime = Duration.seconds(2)
    private static let read = Int32(ALCEDO_HTTP_READ)
    private static let write = Int32(ALCEDO_HTTP_WRITE)
    private static let hangup = Int32(ALCEDO_HTTP_HANGUP)
    private static let wakeupNumber: UInt64 = 0
    private static let listenerNumber: UInt64 = 1
    /// The response to a client that has too many connections.
    private static let tooMany = HTTPError(503, "too many connections from this address", retryAfter: 1).response

    private final class Connection {
        enum State {
            /// No request is in progress. A part of a head may have arrived.
            case receiving
            case waiting(ServerExchange)
            case sending(ServerExchange?, Output)
            /// The last response was sent, and the client may still send. Its bytes are discarded until it ends its
            /// part. If the socket was closed at once, unread bytes would make the system discard the response.
            case draining
        }

        let socket: Int32
        let number: UInt64
        let client: UInt64
        /// Whether the connection exceeds the limit.
        let isReserved: Bool
        var received = ReceivedHeads()
        var state = State.receiving
        /// The uptime at which the state, the head that is being received, or the response that is being sent began.
        var since: Duration
        var keepsConnection = true
        /// Whether bytes that are not read may follow the last response.
        var drains = false
        var events = ConnectionLoop.read

        init(socket: Int32, number: UInt64, client: UInt64, isReserved: Bool, since: Duration) {
            (self.socket, self.number, self.client) = (socket, number, client)
            (self.isReserved, self.since) = (isReserved, since)
        }
    }

    /// The rest of a response.
    private struct Output {
        var head: [UInt8]
        var body: ResponseBodyPool.Reference?
        var sentCount = 0

        var count: Int { head.count + (body?.bytes.count ?? 0) }
    }

    private let context: LoopContext
    private let mailbox: LoopMailbox
    private let poll: Int32
    private var listener: Int32
    private var connections: [UInt64: Connection] = [:]
    private var clients: [UInt64: Int] = [:]
    private var lastNumber = listenerNumber
    private var isAccepting = true
    private var isStopping = false
    private var endsIdle = false
    private var hasReportedDescriptors = false
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ReceivedHeads.limit, alignment: 1)

    init(_ context: LoopContext, mailbox: LoopMailbox, poll: Int32, listener: Int32) {
        (self.context, self.mailbox, self.poll, self.listener) = (context, mailbox, poll, listener)
    }

    deinit { buffer.deallocate() }

    /// Runs until a stop command.
    func run() {
        watch(mailbox.wakeup, Self.wakeupNumber, Self.read)
        watch(listener, Self.listenerNumber, Self.read)
        var events = [alcedo_http_event](repeating: alcedo_http_event(), count: 64)
        while true {
            let count = alcedo_http_poll_wait(poll, &events, Int32(events.count))
            for event in events.prefix(Int(count)) { handle(event) }
            for command in mailbox.takeAll() {
                switch command {
                case .resume(let number): if let connection = connections[number] { resume(connection) }
                case .sweep: sweep()
                case .stopAccepting: stopAccepting()
                case .endIdle: endIdle()
                case .stop(let completion):
                    stopAccepting()
                    for connection in connections.values { end(connection) }
                    close(poll)
                    return completion()
                }
            }
        }
    }

    private func handle(_ event: alcedo_http_event) {
        switch event.number {
        case Self.wakeupNumber: return alcedo_http_sleep(mailbox.wakeup)
        case Self.listenerNumber: return accept()
        default: break
        }
        // A connection may have been closed by an earlier event.
        guard let connection = connections[event.number] else { return }
        switch connection.state {
        case .receiving: receive(connection)
        case .waiting(let exchange):
            // The exchange resumes the request, which closes the connection.
            watch(connection, 0)
            exchange.settle(.disconnected)
        case .sending(let exchange, let output):
            send(output, exchange, connection)
            processReceived(connection)
        case .draining:
            let count = recv(connection.socket, buffer.baseAddress, buffer.count, 0)
            if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { end(connection) }
        }
    }

    private func watch(_ connection: Connection, _ events: Int32) {
        guard connection.events != events else { return }
        connection.events = events
        watch(connection.socket, connection.number, events)
    }

    private func watch(_ descriptor: Int32, _ number: UInt64, _ events: Int32) {
        _ = alcedo_http_poll_set(poll, descriptor, number, events)
    }

    // MARK: Connections

    private func accept() {
        while isAccepting {
            let now = context.clock.uptime
            let limit = context.settings.maxConcurrentConnections
            let replaced = connections.count < limit ? nil : longestWaiting(now)
            guard replaced != nil || connections.count < limit + Self.reserve else { return pauseAccepting() }
            var client: UInt64 = 0
            let socket = alcedo_http_accept(listener, &client)
            switch -socket {
            case EAGAIN: return
            case EINTR, ECONNABORTED, EPROTO: continue
            case 1...:
                reportDescriptors(-socket)
                return pauseAccepting()
            default: break
            }
            guard clients[client, default: 0] < context.settings.maxConcurrentConnectionsPerClient else {
                let head = Self.tooMany.head(closes: true, now: context.clock.now) + Self.tooMany.body
                _ = alcedo_http_send(socket, head, head.count, nil, 0)
                close(socket)
                continue
            }
            if let replaced { end(replaced) }
            lastNumber += 1
            let connection = Connection(
                socket: socket, number: lastNumber, client: client, isReserved: connections.count >= limit, since: now)
            guard alcedo_http_poll_set(poll, socket, lastNumber, connection.events) != 0 else {
                close(socket)
                continue
            }
            clients[client, default: 0] += 1
            connections[lastNumber] = connection
            context.connections.opened()
            // Most clients have sent their head already.
            receive(connection)
        }
    }

    /// Reports once that no connection can be accepted because a resource of the system is exhausted.
    private func reportDescriptors(_ error: Int32) {
        guard !hasReportedDescriptors else { return }
        hasReportedDescriptors = true
        context.log("cannot accept a connection: \(String(cString: strerror(error)))")
    }

    /// Leaves further connections in the system's queue, until a connection ends or the next sweep.
    private func pauseAccepting() {
        guard isAccepting else { return }
        isAccepting = false
        watch(listener, Self.listenerNumber, 0)
    }

    private func resumeAccepting() {
        guard !isAccepting, !isStopping else { return }
        isAccepting = true
        watch(listener, Self.listenerNumber, Self.read)
    }

    private func stopAccepting() {
        guard !isStopping else { return }
        (isStopping, isAccepting) = (true, false)
        close(listener)
    }

    /// Returns the connection that has been without a request in progress for longest, if this is some time.
    private func longestWaiting(_ now: Duration) -> Connection? {
        let waiting = connections.values.filter { connection in
            switch connection.state {
            case .receiving, .draining: now - connection.since >= Self.minimumWait
            default: false
            }
        }
        return waiting.min { $0.since < $1.since }
    }

    private func endIdle() {
        endsIdle = true
        for connection in connections.values {
            if case .receiving = connection.state { end(connection) }
        }
    }

    private func sweep() {
        let now = context.clock.uptime
        for connection in connections.values {
            let time = now - connection.since
            switch connection.state {
            case .receiving where connection.received.isEmpty:
                if time > context.settings.clientTimeout { end(connection) }
            case .receiving where time > context.settings.headTimeout: reject(connection, .headTimedOut)
            case .draining where time > Self.drainingTime, .sending(nil, _) where time > Self.drainingTime:
                end(connection)
            case .sending(_, let output) where isTooSlow(connection, output, time): end(connection)
            default: break
            }
        }
        resumeAccepting()
    }

    /// Whether a client will not receive a response in the maximum time if it continues as slowly as it began. A client
    /// that reads a byte a second thus holds its connection for little more than a sixth of the time. Bytes that the
    /// client has not acknowledged do not count as received.
    private func isTooSlow(_ connection: Connection, _ output: Output, _ time: Duration) -> Bool {
        let limit = context.settings.sendingTimeout
        let due = (time - limit / 6) / (limit * 5 / 6)
        // Bytes of an earlier response may be among the unacknowledged ones.
        let received = max(0, output.sentCount - Int(alcedo_http_unreceived(connection.socket)))
        return due > 1 || Double(received) < due * Double(output.count)
    }

    /// Closes a connection. Its request, if it has one, ends without a complete response.
    private func end(_ connection: Connection) {
        guard connections.removeValue(forKey: connection.number) != nil else { return }
        switch connection.state {
        case .waiting(let exchange), .sending(let exchange?, _): end(exchange, isSent: false)
        default: break
        }
        connection.state = .draining
        let count = clients[connection.client, default: 1] - 1
        clients[connection.client] = count > 0 ? count : nil
        close(connection.socket)
        context.connections.closed()
        resumeAccepting()
    }

    private func end(_ exchange: ServerExchange, isSent: Bool) {
        let sent = isSent ? exchange.sent : nil
        context.handler.requestEnded(
            exchange.head, status: sent?.status, byteCount: sent?.byteCount ?? 0,
            duration: context.clock.uptime - exchange.begin)
        context.exchanges.remove(exchange)
    }

    // MARK: Requests

    private func receive(_ connection: Connection) {
        let count = recv(connection.socket, buffer.baseAddress, connection.received.space, 0)
        guard count > 0 else {
            if count == 0 || (errno != EAGAIN && errno != EINTR) { end(connection) }
            return
        }
        if connection.received.isEmpty { connection.since = context.clock.uptime }
        connection.received.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        processReceived(connection)
    }

    /// Begins the requests that have arrived, one after the other.
    private func processReceived(_ connection: Connection) {
        while connections[connection.number] != nil, case .receiving = connection.state {
            do throws(HTTPError) {
                guard let head = try connection.received.next() else { return }
                begin(head, connection)
            } catch {
                reject(connection, error)
            }
        }
    }

    /// Sends the last response, to a head that is not a request.
    private func reject(_ connection: Connection, _ error: HTTPError) {
        (connection.keepsConnection, connection.drains) = (false, true)
        connection.since = context.clock.uptime
        let response = error.response
        send(Output(head: response.head(closes: true, now: context.clock.now) + response.body), nil, connection)
    }

    private func begin(_ head: RequestHead, _ connection: Connection) {
        let (number, mailbox) = (connection.number, mailbox)
        let exchange = ServerExchange(
            number: context.exchanges.makeNumber(), head: head, resume: { mailbox.post(.resume(number)) },
            clock: context.clock)
        context.exchanges.add(exchange)
        // The bytes of a body are not read, so nothing can follow it.
        connection.keepsConnection = head.keepsConnection && !head.hasBody && !connection.isReserved
        connection.drains = head.hasBody
        switch head.hasBody ? .response(Self.rejectBody(head)) : context.handler.respond(to: head) {
        case .response(let response) where response.body.count <= Self.maximumReservedByteCount,
            .response(let response) where !connection.isReserved:
            send(response, exchange, connection)
        case .response,
            .asynchronous where connection.isReserved:
            send(context.handler.overloadResponse(), exchange, connection)
        case .asynchronous(let operation):
            connection.state = .waiting(exchange)
            // A client that ends its part counts as disconnected, because most such clients have closed the connection.
            watch(connection, Self.hangup)
            exchange.start(operation)
        }
    }

    /// Returns the response to a request with a body: 400 for GET and HEAD, 405 for other methods.
    private static func rejectBody(_ head: RequestHead) -> ServerResponse {
        let isKnown = ["GET", "HEAD"].contains(head.method)
        return isKnown ? HTTPError(400, "a request body is not allowed").response : HTTPError.methodNotAllowed.response
    }

    private func resume(_ connection: Connection) {
        guard case .waiting(let exchange) = connection.state else { return }
        guard case .response(let response)? = exchange.outcome else { return end(connection) }
        send(response, exchange, connection)
        processReceived(connection)
    }

    // MARK: Responses

    private func send(_ response: ServerResponse, _ exchange: ServerExchange, _ connection: Connection) {
        var (response, reference) = (response, nil as ResponseBodyPool.Reference?)
        let hasNoBody = exchange.hasNoBody(response)
        if !hasNoBody, response.body.count > ResponseBodyPool.copyLimit {
            reference = context.bodies.acquire(response.body)
            if reference == nil { response = context.handler.overloadResponse() }
        }
        if isStopping { connection.keepsConnection = false }
        connection.since = context.clock.uptime
        exchange.willSend(response)
        var head = response.head(
            closes: !connection.keepsConnection, minorVersion: exchange.head.minorVersion, now: context.clock.now)
        if !hasNoBody, reference == nil { head += response.body }
        send(Output(head: head, body: reference), exchange, connection)
    }

    /// Sends as much as the client accepts. After the whole response, the connection ends or receives the next request.
    private func send(_ output: Output, _ exchange: ServerExchange?, _ connection: Connection) {
        var output = output
        while output.sentCount < output.count {
            let count = output.head.withUnsafeBytes { head in
                let head = UnsafeRawBufferPointer(rebasing: head.dropFirst(output.sentCount))
                let body = output.body.map {
                    UnsafeRawBufferPointer(rebasing: $0.bytes.dropFirst(max(0, output.sentCount - output.head.count)))
                }
                return alcedo_http_send(
                    connection.socket, head.baseAddress, head.count, body?.baseAddress, body?.count ?? 0)
            }
            guard count > 0 else {
                connection.state = .sending(exchange, output)
                return -count == EAGAIN ? watch(connection, Self.write) : end(connection)
            }
            output.sentCount += count
        }
        if let exchange { end(exchange, isSent: true) }
        connection.since = context.clock.uptime
        connection.state = connection.keepsConnection && !endsIdle ? .receiving : .draining
        watch(connection, Self.read)
        guard case .draining = connection.state else { return }
        if connection.drains { shutdown(connection.socket, Int32(SHUT_WR)) } else { end(connection) }
    }
}
