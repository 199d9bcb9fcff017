import AlcedoCore
import AlcedoHTTP
import AlcedoLibc
import FoundationEssentials

/// The event loop of an origin, which waits for all of its sockets and serves those that are ready.
struct OriginLoop: ~Copyable {
    /// The time, in milliseconds, after which a listener that could not be served is polled again, unless another event
    /// occurs first.
    private static let retryMilliseconds: Int32 = 50

    private let hub: OriginHub
    private let listener: OriginSocket
    private let alarm: OriginAlarm
    private var connections: [OriginConnection] = []
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    private var acceptsMore = true

    init(hub: OriginHub, listener: OriginSocket, alarm: OriginAlarm) {
        self.hub = hub
        self.listener = listener
        self.alarm = alarm
    }

    /// Runs until the hub is stopped.
    mutating func run() {
        while !hub.isStopped {
            var waits = [pollfd(fd: alarm.readEnd, events: Int16(POLLIN), revents: 0)]
            waits.append(pollfd(fd: listener.descriptor, events: acceptsMore ? Int16(POLLIN) : 0, revents: 0))
            waits += connections.map { pollfd(fd: $0.socket.descriptor, events: events(of: $0), revents: 0) }
            guard poll(&waits, nfds_t(waits.count), acceptsMore ? -1 : Self.retryMilliseconds) >= 0 || errno == EINTR
            else { break }
            acceptsMore = true
            if waits[0].revents != 0 { handleAlarm() }
            for index in connections.indices where waits[index + 2].revents != 0 {
                serve(index, ready: waits[index + 2].revents)
            }
            removeClosed()
            if waits[1].revents != 0 { accept() }
        }
        for connection in connections { hub.close(connection.socket) }
        hub.close(listener)
        hub.threadEnded()
    }

    private func events(of connection: OriginConnection) -> Int16 {
        Int16((connection.wantsInput ? POLLIN : 0) | (connection.need == .output ? POLLOUT : 0))
    }

    private mutating func handleAlarm() {
        alarm.silence()
        for index in connections.indices where connections[index].need == .release {
            connections[index].advance(hub: hub)
        }
    }

    private mutating func serve(_ index: Int, ready: Int16) {
        // Reading reports a broken connection.
        if ready & Int16(POLLIN | POLLHUP | POLLERR) != 0 { connections[index].receive(with: &buffer, hub: hub) }
        if ready & Int16(POLLOUT) != 0, connections[index].need == .output { connections[index].advance(hub: hub) }
    }

    private mutating func removeClosed() {
        let closed = connections.filter { $0.need == .closing }
        guard !closed.isEmpty else { return }
        connections.removeAll { $0.need == .closing }
        for connection in closed { hub.close(connection.socket) }
        hub.state.update { state in
            state.openConnectionCount -= closed.count
            state.disconnectCount += closed.count { $0.wasEndedByClient }
        }
    }

    private mutating func accept() {
        while connections.count < hub.options.connectionLimit {
            let accepted = Result { try listener.accept() }
            guard case .success(let next) = accepted else { break }
            guard let socket = next else { return }
            guard hub.open(socket) else { return }
            let number = hub.state.update { state in
                state.connectionCount += 1
                state.openConnectionCount += 1
                return state.connectionCount
            }
            connections.append(OriginConnection(socket, number: number, options: hub.options))
        }
        // No connection slot or descriptor is free. The listener stays readable, so polling it immediately would spin.
        acceptsMore = false
    }
}

/// A connection of one client, which reads requests and sends responses. Used on the origin's thread only.
private struct OriginConnection {
    /// The event that a connection waits for.
    enum Need: Equatable {
        /// Bytes from the client.
        case input
        /// Space in the socket's send buffer.
        case output
        /// A call of ``LoopbackOrigin/release()``.
        case release
        /// The end of the client's side, after the origin has ended its own.
        case clientEnd
        /// The loop, which closes the connection.
        case closing
    }

    /// The approximate number of bytes that a connection sends before the loop serves another connection.
    private static let maximumBytesPerPass = 512 << 10
    /// The maximum number of requests that a connection handles before the loop serves another connection.
    private static let maximumRequestsPerPass = 64
    /// The number of bytes at which a connection stops reading ahead while a response is being sent. After the origin
    /// has ended its side, the maximum number of received bytes that it discards before it closes the connection.
    private static let readAhead = 1 << 20

    let socket: OriginSocket
    let number: Int
    private(set) var need = Need.input
    private(set) var wasEndedByClient = false
    /// Whether the client has ended its side. It may still read: a close and a half-close (RFC 9293, section 3.6) look
    /// the same until bytes are sent to it.
    private var hasInputEnded = false
    private var parser: OriginParser
    private var steps: ArraySlice<OriginStep> = []
    /// The number of bytes of the current step that have been sent.
    private var progress = 0
    private var requestNumber = 0
    private var discarded = 0

    init(_ socket: OriginSocket, number: Int, options: OriginOptions) {
        self.socket = socket
        self.number = number
        parser = OriginParser(options: options)
    }

    /// Whether to read from the client, if only to detect that it has ended the connection.
    var wantsInput: Bool {
        !hasInputEnded && (need == .clientEnd || parser.count < Self.readAhead || need == .input)
    }

    /// Receives the bytes that the client has sent.
    mutating func receive(with buffer: inout [UInt8], hub: OriginHub) {
        switch buffer.withUnsafeMutableBytes({ socket.receive(into: $0) }) {
        case .wouldBlock: return
        case .inputEnded where need == .output: hasInputEnded = true
        case .inputEnded, .ended:
            wasEndedByClient = need != .clientEnd
            move(to: .closing, hub: hub)
        case .bytes(let count) where need == .clientEnd:
            discarded += count
            if discarded > Self.readAhead { need = .closing }
        case .bytes(let count):
            parser.append(buffer[..<count])
            if need == .input { advance(hub: hub) }
        }
    }

    /// Continues as far as possible without waiting.
    mutating func advance(hub: OriginHub) {
        var budget = Self.maximumBytesPerPass
        for _ in 0..<Self.maximumRequestsPerPass {
            while let step = steps.first {
                if let need = perform(step, budget: &budget, hub: hub) { return move(to: need, hub: hub) }
                steps.removeFirst()
                progress = 0
            }
            guard readRequest(hub: hub) else { return move(to: .input, hub: hub) }
        }
        // More work can be done immediately. The connection continues when its socket is writable.
        move(to: .output, hub: hub)
    }

    /// Parses the next request and plans its response. Returns whether there is anything to send.
    private mutating func readRequest(hub: OriginHub) -> Bool {
        switch parser.next() {
        case .incomplete: return false
        case .expectsContinue: steps = [.send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))]
        case .rejected(let status):
            steps = OriginPlan(.status(status), method: .get, keepsAlive: false).steps[...]
        case .message(let message):
            let request = hub.record(message, connection: number)
            requestNumber = request.number
            let reply = hub.handler(request)
            steps = OriginPlan(reply, method: request.method, keepsAlive: message.keepsAlive).steps[...]
        }
        return true
    }

    /// Performs a step. Returns the event that the step must wait for; nil if the step is complete.
    private mutating func perform(_ step: OriginStep, budget: inout Int, hub: OriginHub) -> Need? {
        switch step {
        case .send(let bytes): return send(bytes, budget: &budget)
        case .generate(let count, let inChunks): return generate(count, inChunks: inChunks, budget: &budget)
        case .stall: return hub.releasedNumber >= requestNumber ? nil : .release
        case .reset:
            socket.resetOnClose()
            return .closing
        case .close:
            socket.finish()
            return .clientEnd
        }
    }

    private mutating func send(_ bytes: Data, budget: inout Int) -> Need? {
        while progress < bytes.count {
            guard budget > 0 else { return .output }
            switch bytes.withUnsafeBytes({ socket.send(UnsafeRawBufferPointer(rebasing: $0[progress...])) }) {
            case .bytes(let count):
                progress += count
                budget -= count
            case .wouldBlock: return .output
            case .ended, .inputEnded:
                wasEndedByClient = true
                return .closing
            }
        }
        return nil
    }

    /// Sends generated bytes by inserting pieces of them before the current step.
    private mutating func generate(_ count: Int?, inChunks: Bool, budget: inout Int) -> Need? {
        let size = min(count ?? .max, Self.generated.count)
        guard size > 0 else { return nil }
        let bytes = Self.generated.prefix(size)
        let rest = OriginStep.generate(count: count.map { $0 - size }, inChunks: inChunks)
        steps[steps.startIndex] = rest
        steps = [.send(inChunks ? OriginPlan.chunk(bytes) : bytes)] + steps
        return send(inChunks ? OriginPlan.chunk(bytes) : bytes, budget: &budget)
    }

    private static let generated = Data((0..<(64 << 10)).map { UInt8(truncatingIfNeeded: $0) })

    private mutating func move(to next: Need, hub: OriginHub) {
        var next = next
        // All output up to the end of the response or the next stall is sent. The client has ended its side, so it
        // causes no further event.
        if hasInputEnded, [.input, .release, .clientEnd].contains(next) {
            wasEndedByClient = next != .clientEnd
            next = .closing
        }
        if (next == .release) != (need == .release) {
            hub.state.update { $0.stalledCount += next == .release ? 1 : -1 }
        }
        need = next
    }
}
