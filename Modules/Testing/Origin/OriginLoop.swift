import AlcedoLibc

/// The thread of an origin: waits for any of its sockets and serves the one that is ready.
struct OriginLoop: ~Copyable {
    /// How long a listener that could not be served is left alone, unless something else happens.
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
            if waits[0].revents != 0 { answerAlarm() }
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

    private mutating func answerAlarm() {
        alarm.silence()
        for index in connections.indices where connections[index].need == .release {
            connections[index].work(hub: hub)
        }
    }

    private mutating func serve(_ index: Int, ready: Int16) {
        // A broken connection is noticed by reading it.
        if ready & Int16(POLLIN | POLLHUP | POLLERR) != 0 { connections[index].receive(with: &buffer, hub: hub) }
        if ready & Int16(POLLOUT) != 0, connections[index].need == .output { connections[index].work(hub: hub) }
    }

    private mutating func removeClosed() {
        let closed = connections.filter { $0.need == .nothing }
        guard !closed.isEmpty else { return }
        connections.removeAll { $0.need == .nothing }
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
        // Out of room or of descriptors: the listener stays ready, so leave it alone for a moment.
        acceptsMore = false
    }
}
