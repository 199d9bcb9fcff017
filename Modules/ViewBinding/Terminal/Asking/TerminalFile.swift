import AlcedoCore
import AlcedoLibc

/// A terminal that a file descriptor is open on.
public final class TerminalFile: TerminalPort {
    private let descriptor: Int32
    private let before = Locked<termios?>(nil)

    /// - Parameter fileDescriptor: Open for reading and writing; stays the caller's.
    public init(fileDescriptor: Int32) { descriptor = fileDescriptor }

    /// Switches off the echo and the wait for a line's end; Ctrl-C stays what it is. Refused to a process in the
    /// background, which the system would stop.
    public func begin() -> Bool {
        var settings = termios()
        let foreground = tcgetpgrp(descriptor)
        guard foreground < 0 || foreground == getpgrp(), tcgetattr(descriptor, &settings) == 0 else { return false }
        before.withLock { $0 = settings }
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        return tcsetattr(descriptor, TCSANOW, &settings) == 0
    }

    public func write(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { AlcedoLibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    public func read(within time: Duration) -> [UInt8] {
        var file = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let milliseconds = Int32(clamping: Int((max(.zero, time) / .milliseconds(1)).rounded(.up)))
        guard poll(&file, 1, milliseconds) > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = AlcedoLibc.read(descriptor, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }

    /// Restores the settings. What has been typed meanwhile is dropped, with answers that came too late.
    public func end() {
        guard var settings = before.withLock({ $0.take() }) else { return }
        tcsetattr(descriptor, TCSAFLUSH, &settings)
    }
}
