import Alcedo
import AlcedoLibc

/// The wish of a person, or of the system, that the process end before its work is done: SIGINT, SIGTERM or SIGHUP.
///
/// From the making of the value on these signals do not end the process by themselves: the first one runs `stop`, after
/// which the work is to end soon; the second ends the process at once, after ``TerminalRestoration``. A signal that the
/// process was told to ignore stays ignored. One for a process.
public final class Interruption: Sendable {
    private struct First: Sendable {
        var signal: Int32
        var stopping: Task<Void, Never>
    }

    /// Leads from the handler, which may do next to nothing, to a thread that waits. Signals could be blocked and waited for
    /// instead, did dispatch not take them all on the main thread. Without descriptors, signals end the process as ever.
    private static let line: (outside: Int32, inside: Int32)? = {
        var files: [Int32] = [-1, -1]
        return pipe(&files) == 0 ? (files[0], files[1]) : nil
    }()

    private let first = Locked<First?>(nil)

    /// - Parameter stop: Makes the work end early; runs at most once.
    public init(_ stop: @escaping @Sendable () async -> Void) {
        guard let line = Self.line else { return }
        LoopThread.start { [self] in
            var number: UInt8 = 0
            while read(line.outside, &number, 1) == 1 || errno == EINTR {
                if number > 0 { heed(Int32(number), stop) }
                number = 0
            }
        }
        for number in [SIGINT, SIGTERM, SIGHUP] where !Self.isIgnored(number) {
            signal(number) { number in
                // All that is done here is allowed in a handler; the line has been made before.
                let before = errno
                var byte = UInt8(truncatingIfNeeded: number)
                if let line = Interruption.line { _ = write(line.inside, &byte, 1) }
                errno = before
            }
        }
    }

    /// Whether the work is to end.
    public var hasCome: Bool { first.withLock { $0 != nil } }

    /// What the process ends with, as shells count it, when everything has been stopped; nil when no signal has come.
    public func finish() async -> ExitStatus? {
        guard let first = first.withLock({ $0 }) else { return nil }
        await first.stopping.value
        switch first.signal {
        case SIGTERM: return .terminated
        case SIGHUP: return .hungUp
        default: return .interrupted
        }
    }

    private func heed(_ number: Int32, _ stop: @escaping @Sendable () async -> Void) {
        let isFirst = first.withLock { first in
            guard first == nil else { return false }
            first = First(signal: number, stopping: Task { await stop() })
            return true
        }
        guard !isFirst else { return }
        TerminalRestoration.run()
        _exit(128 + number)
    }

    /// Whether the process was told to ignore a signal.
    public static func isIgnored(_ number: Int32) -> Bool { SignalAction.isIgnored(number) }
}
