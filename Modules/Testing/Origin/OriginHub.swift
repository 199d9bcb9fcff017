import AlcedoCore
import AlcedoLibc
import AlcedoRuntime

/// What the origin's thread and its callers share.
final class OriginHub: Sendable {
    typealias Handler = @Sendable (OriginRequest) -> OriginReply

    /// Sockets are closed under this lock, so that nobody shuts down a descriptor that is another's by then.
    private struct Control {
        var open: Set<Int32> = []
        var isStopped = false
        var releasedNumber = 0
        /// Nil when the thread has ended.
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

    /// Stalls of requests up to this number are over.
    var releasedNumber: Int { control.withLock { $0.releasedNumber } }

    /// Takes charge of a socket.
    ///
    /// - Returns: Whether it may be used; after a stop it is closed instead.
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

    /// Ends the stalls of all requests that have arrived.
    func release() {
        let number = state.value.requestCount
        control.withLock { control in
            control.releasedNumber = max(control.releasedNumber, number)
            control.alarm?.ring()
        }
    }

    /// Ends every connection at once; the thread then ends by itself.
    func stop() {
        control.withLock { control in
            control.isStopped = true
            for descriptor in control.open { OriginSocket(descriptor: descriptor).shutDown() }
            control.alarm?.ring()
        }
        state.close()
    }

    /// The thread's last word.
    func threadEnded() {
        control.withLock { control in
            control.alarm?.close()
            control.alarm = nil
        }
    }

    /// Numbers and logs a request.
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

/// Wakes a thread that waits in poll(2): a pipe that becomes readable.
struct OriginAlarm {
    /// What the thread polls.
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
        // A full pipe is as readable as one with a byte more.
        _ = write(writeEnd, &byte, 1)
    }

    /// Makes the pipe unreadable until the next ring.
    func silence() {
        var bytes: (UInt64, UInt64) = (0, 0)
        while read(readEnd, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
    }

    func close() {
        _ = AlcedoLibc.close(readEnd)
        _ = AlcedoLibc.close(writeEnd)
    }
}
