import AlcedoLibc
import Dispatch
import FoundationEssentials

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

/// Cuts bytes into lines. Empty lines are left out.
struct LineCutter {
    enum Line: Sendable, Equatable {
        /// The bytes of a line, without its end.
        case text(Data)
        /// A line of more bytes than this, which are gone.
        case tooLong(limit: Int)
    }

    private let limit: Int
    private var begun = Data()
    private var isTooLong = false

    /// - Parameter limit: Most bytes of a line. Default: 64 MiB.
    init(limit: Int = 64 << 20) { self.limit = limit }

    /// Takes more bytes and returns the lines that they complete.
    mutating func cut(_ bytes: ArraySlice<UInt8>) -> [Line] {
        var lines: [Line] = []
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            append(rest[..<end])
            if let line = finish() { lines.append(line) }
            rest = rest[(end + 1)...]
        }
        append(rest)
        return lines
    }

    /// What was begun and not ended.
    mutating func finish() -> Line? {
        defer { (begun, isTooLong) = (Data(), false) }
        if isTooLong { return .tooLong(limit: limit) }
        return begun.allSatisfy { [0x20, 0x09, 0x0D].contains($0) } ? nil : .text(begun)
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        isTooLong = bytes.count > limit - begun.count
        if isTooLong { begun = Data() } else { begun.append(contentsOf: bytes) }
    }
}
