import AlcedoLibc

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
