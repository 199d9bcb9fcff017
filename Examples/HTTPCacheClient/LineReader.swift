import AlcedoLibc
import Dispatch

/// Reads the lines of standard input on a thread of its own, no further ahead than there is room for.
final class LineReader: Sendable {
    let lines: AsyncStream<LineCutter.Line>
    private let room: DispatchSemaphore

    /// - Parameter ahead: Most lines that have been read and not made room again.
    init(ahead: Int) {
        let (lines, sink) = AsyncStream.makeStream(of: LineCutter.Line.self)
        // A semaphore must not die below the value it was made with.
        let room = DispatchSemaphore(value: 0)
        for _ in 0..<ahead { room.signal() }
        self.lines = lines
        self.room = room
        // A serial queue's block has a thread to itself for as long as it runs.
        DispatchQueue(label: "standard input").async {
            Self.readAll { line in
                room.wait()
                sink.yield(line)
            }
            sink.finish()
        }
    }

    /// One line more may be read. May come from any thread.
    func makeRoom() { room.signal() }

    private static func readAll(_ take: (LineCutter.Line) -> Void) {
        var cutter = LineCutter()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
            if count > 0 {
                for line in cutter.cut(buffer[..<count]) { take(line) }
            } else if count < 0, errno == EAGAIN {
                var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                poll(&input, 1, -1)
            } else if count == 0 || errno != EINTR {
                break
            }
        }
        if let last = cutter.finish() { take(last) }
    }
}
