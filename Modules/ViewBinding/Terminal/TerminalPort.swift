import AlcedoCore
import AlcedoLibc
import AlcedoRuntime

/// A terminal that can be queried. Methods block, and are called one at a time.
package protocol TerminalPort: Sendable {
    /// Prepares the terminal for a response that is not echoed. Returns false if the terminal cannot be queried.
    func begin() -> Bool
    /// Writes text. Returns false if the terminal does not accept it.
    func write(_ text: String) -> Bool
    /// Returns at least some of the bytes received since the last call; an empty array if none arrive within the time
    /// or reading fails.
    func read(within time: Duration) -> [UInt8]
    /// Restores the terminal to its state before ``begin()``. Called only after ``begin()`` has returned true.
    func end()
}

package final class TerminalFile: TerminalPort {
    private let descriptor: Int32
    private let before = Locked<termios?>(nil)

    /// Creates a terminal.
    ///
    /// - Parameter fileDescriptor: A file descriptor that is open for reading and writing. The caller keeps ownership.
    package init(fileDescriptor: Int32) { descriptor = fileDescriptor }

    /// Disables echo and line buffering. Ctrl-C keeps its effect; if it ends the process before ``end()``, the terminal
    /// keeps these settings. Returns false if the file descriptor does not refer to a terminal or the settings cannot
    /// be changed. Also returns false in a background process, because the system would stop the process.
    package func begin() -> Bool {
        var settings = termios()
        let foreground = tcgetpgrp(descriptor)
        guard foreground < 0 || foreground == getpgrp(), tcgetattr(descriptor, &settings) == 0 else { return false }
        before.withLock { $0 = settings }
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        return tcsetattr(descriptor, TCSANOW, &settings) == 0
    }

    package func write(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { AlcedoLibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    package func read(within time: Duration) -> [UInt8] {
        var file = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard Self.isReadable(within: time, poll: { poll(&file, 1, $0) }) else { return [] }
        var bytes = [UInt8](repeating: 0, count: 256)
        var count = 0
        repeat { count = AlcedoLibc.read(descriptor, &bytes, bytes.count) } while count < 0 && errno == EINTR
        return Array(bytes.prefix(max(0, count)))
    }

    /// Returns whether there are bytes to read, an error or a hang-up within the time. A signal that interrupts the
    /// wait does not shorten it.
    ///
    /// - Parameters:
    ///   - time: The maximum time to wait.
    ///   - poll: A closure that waits for a number of milliseconds, with the results of `poll(2)`.
    static func isReadable(within time: Duration, poll: (_ milliseconds: Int32) -> Int32) -> Bool {
        let longest = Duration.milliseconds(Int32.max)
        let end = ContinuousClock.now + min(max(.zero, time), longest)
        while true {
            let rest = max(.zero, end - .now)
            let result = poll(Int32(clamping: Int((rest / .milliseconds(1)).rounded(.up))))
            if result >= 0 || errno != EINTR { return result > 0 }
        }
    }

    /// Restores the settings. Discards input that was received before this call and not read, including responses.
    package func end() {
        guard var settings = before.withLock({ $0.take() }) else { return }
        tcsetattr(descriptor, TCSAFLUSH, &settings)
    }
}
