import AlcedoCore
import AlcedoLibc

/// Tells a thread that waits in poll(2) to end: a pipe that becomes readable, closed when nobody holds this object.
final class StopSignal: Sendable {
    /// What the thread polls.
    let readEnd: Int32
    private let writeEnd: Int32
    private let raised = Locked(false)

    /// nil when the process has no descriptors left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (readEnd, writeEnd) = (ends[0], ends[1])
        // Swift sees no pipe2(2).
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    var isRaised: Bool { raised.withLock { $0 } }

    func raise() {
        raised.withLock { $0 = true }
        var byte: UInt8 = 1
        _ = write(writeEnd, &byte, 1)
    }
}
