import AlcedoCore
import AlcedoLibc
import AlcedoRuntime

/// A terminal that can be asked. Calls block, and come one at a time.
package protocol TerminalPort: Sendable {
    /// Prepares the terminal for an answer, which is not to be shown. False when it cannot be asked.
    func begin() -> Bool
    /// False when the terminal does not take the text.
    func write(_ text: String) -> Bool
    /// What has been typed or answered since the last call, some of it at least; nothing when none came within the time.
    func read(within time: Duration) -> [UInt8]
    /// Makes the terminal what it was before ``begin()``, which has returned true.
    func end()
}

/// A terminal that a file descriptor is open on.
package final class TerminalFile: TerminalPort {
    private let descriptor: Int32
    private let before = Locked<termios?>(nil)

    /// - Parameter fileDescriptor: Open for reading and writing; stays the caller's.
    package init(fileDescriptor: Int32) { descriptor = fileDescriptor }

    /// Switches off the echo and the wait for a line's end; Ctrl-C stays what it is. Refused to a process in the
    /// background, which the system would stop.
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

    /// Whether there is something to read within the time. A signal that interrupts the wait does not shorten it.
    ///
    /// - Parameter poll: Waits for so many milliseconds, as the system's function does.
    static func isReadable(within time: Duration, poll: (_ milliseconds: Int32) -> Int32) -> Bool {
        let longest = Duration.milliseconds(Int32.max)
        let end = ContinuousClock.now + min(max(.zero, time), longest)
        while true {
            let rest = max(.zero, end - .now)
            let result = poll(Int32(clamping: Int((rest / .milliseconds(1)).rounded(.up))))
            if result >= 0 || errno != EINTR { return result > 0 }
        }
    }

    /// Restores the settings. What has been typed meanwhile is dropped, with answers that came too late.
    package func end() {
        guard var settings = before.withLock({ $0.take() }) else { return }
        tcsetattr(descriptor, TCSAFLUSH, &settings)
    }
}
