import AlcedoCore
import AlcedoLibc
import AlcedoRuntime

/// A terminal with access to its outside.
package final class PseudoTerminal: Sendable {
    /// TIOCSPTLCK and TIOCGPTN of the kernel's interface, which Swift does not import.
    private static let (setLock, getNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))

    /// The descriptor that a process uses as its terminal.
    package let inside: Int32
    private let outside: Int32
    private let reader = BlockingExecutor(name: "terminal", maxConcurrent: 1)

    package init() throws {
        outside = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (lock, number) = (Int32(0), Int32(0))
        guard outside >= 0, ioctl(outside, Self.setLock, &lock) == 0, ioctl(outside, Self.getNumber, &number) == 0
        else { throw SystemError(number: errno) }
        inside = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard inside >= 0 else { throw SystemError(number: errno) }
    }

    deinit {
        close(inside)
        close(outside)
    }

    /// Writes input to the terminal.
    package func type(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard write(outside, bytes, bytes.count) == bytes.count else { throw SystemError(number: errno) }
    }

    /// Changes the size. The terminal's processes receive a signal.
    package func resize(columns: Int, rows: Int) throws {
        var size = winsize(
            ws_row: UInt16(clamping: rows), ws_col: UInt16(clamping: columns), ws_xpixel: 0, ws_ypixel: 0)
        guard ioctl(outside, UInt(TIOCSWINSZ), &size) == 0 else { throw SystemError(number: errno) }
    }

    /// Returns the output since the last call once it contains this text.
    package func read(until text: String) async throws -> String {
        try await reader.run { [outside] in
            var all: [UInt8] = []
            // Only the new bytes are searched, with those before them that can begin the text. Otherwise, the output of
            // an animation would arrive faster than it is searched.
            var searched = 0
            while !all[searched...].contains(text.utf8) {
                searched = max(0, all.count - text.utf8.count)
                var piece = [UInt8](repeating: 0, count: 4096)
                let count = AlcedoLibc.read(outside, &piece, piece.count)
                guard count > 0 else { throw SystemError(number: errno) }
                all += piece.prefix(count)
            }
            return String(decoding: all, as: UTF8.self)
        }
    }
}
