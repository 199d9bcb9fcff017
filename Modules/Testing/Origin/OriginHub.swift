import AlcedoCore
import AlcedoLibc
import AlcedoRuntime

/// The state that the origin's thread shares with its callers.
final class OriginHub: Sendable {
    typealias Handler = @Sendable (OriginRequest) -> OriginReply

    /// The open sockets and the stop state. Sockets are closed under this lock. Otherwise, a stop could shut down a
    /// descriptor that the system has reused.
    private struct Control {
        var open: Set<Int32> = []
        var isStopped = false
        var releasedNumber = 0
        /// The alarm of the thread; nil after the thread has ended.
        var alarm: OriginAlarm?
    }

    let handler: Handler
    let options: OriginOptions
    let state = Watched(OriginState())
    private let control: Locked<Control>

    init(alarm: OriginAlarm, options: OriginOptions, handler: @escaping Handler) {
        self.handler = handler
        self.options = options
        control = Locked(Control(alarm: alarm))
    }

    var isStopped: Bool { control.withLock { $0.isStopped } }

    /// The number of the last request whose stalls are released.
    var releasedNumber: Int { control.withLock { $0.releasedNumber } }

    /// Takes ownership of a socket.
    ///
    /// - Returns: Whether the socket may be used. After a stop, the socket is closed instead.
    func open(_ socket: OriginSocket) -> Bool {
        control.withLock { control in
            guard !control.isStopped else {
                socket.close()
                return false
            }
            control.open.insert(socket.descriptor)
            return true
        }
    }

    func close(_ socket: OriginSocket) {
        control.withLock { control in
            guard control.open.remove(socket.descriptor) != nil else { return }
            socket.close()
        }
    }

    /// Releases the stalls of all requests that have arrived.
    func release() {
        let number = state.value.requestCount
        control.withLock { control in
            control.releasedNumber = max(control.releasedNumber, number)
            control.alarm?.ring()
        }
    }

    /// Shuts down the listener and every connection immediately, and ends all waits. The thread then ends by itself.
    func stop() {
        control.withLock { control in
            control.isStopped = true
            for descriptor in control.open { OriginSocket(descriptor: descriptor).shutDown() }
            control.alarm?.ring()
        }
        state.close()
    }

    /// Releases the alarm. Called at the end of the thread, or by the origin's initializer if it fails before it starts
    /// the thread.
    func threadEnded() {
        control.withLock { control in
            control.alarm?.close()
            control.alarm = nil
        }
    }

    /// Numbers and counts a request, and returns it. Logs the request unless the log is full.
    func record(_ message: OriginMessage, connection: Int) -> OriginRequest {
        state.update { state in
            state.requestCount += 1
            let attempt = (state.counts[message.target] ?? 0) + 1
            if attempt > 1 || state.counts.count < options.logLimit { state.counts[message.target] = attempt }
            let request = OriginRequest(
                method: message.method, target: message.target, fields: message.fields, body: message.body,
                connection: connection, number: state.requestCount, attempt: attempt)
            if state.requests.count < options.logLimit { state.requests.append(request) }
            return request
        }
    }
}

/// A pipe that wakes a thread waiting in poll(2) by becoming readable.
struct OriginAlarm {
    /// The end of the pipe that the thread polls.
    let readEnd: Int32
    private let writeEnd: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw OriginError.last("pipe") }
        (readEnd, writeEnd) = (ends[0], ends[1])
        for end in ends where fcntl(end, F_SETFL, O_NONBLOCK) != 0 || fcntl(end, F_SETFD, FD_CLOEXEC) != 0 {
            let error = OriginError.last("fcntl")
            close()
            throw error
        }
    }

    func ring() {
        var byte: UInt8 = 1
        // A write to a full pipe fails, but the pipe is readable already.
        _ = write(writeEnd, &byte, 1)
    }

    /// Empties the pipe, so that poll(2) does not report it as readable until the next ``ring()``.
    func silence() {
        var bytes: (UInt64, UInt64) = (0, 0)
        while read(readEnd, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
    }

    func close() {
        _ = AlcedoLibc.close(readEnd)
        _ = AlcedoLibc.close(writeEnd)
    }
}
