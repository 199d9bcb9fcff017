import Alcedo
import AlcedoLibc
import AlcedoRuntime
import Dispatch

/// How a process ends: 0 all well, 1 something failed, 2 the command line makes no sense; 128 and a signal's number when
/// one has ended it early.
package enum ExitStatus: Int32, Sendable {
    case success = 0
    case failure = 1
    case usage = 2
    case hungUp = 129
    case interrupted = 130
    case terminated = 143

    /// Runs a program's body and ends the process with what it says; with ``failure`` when its output had nowhere to go.
    ///
    /// Ends it at once, without the exit handlers of libraries: those of TLS take down what libcurl's thread may be using.
    /// Nothing is buffered that they would have to write.
    ///
    /// No `async` main: before that one begins, dispatch has opened files, perhaps in the place of a closed stream.
    package static func end(_ program: String, _ body: @escaping @Sendable () async throws -> ExitStatus) -> Never {
        Console.reserveStandardStreams()
        // The language's own handler asks at a terminal what to do, for half a minute, where the key is to end the process.
        if !Interruption.isIgnored(SIGQUIT) { signal(SIGQUIT, SIG_DFL) }
        Task {
            do {
                let status = try await body()
                if let loss = Console.outputError { throw loss }
                end(status)
            } catch let error as UsageError {
                Console.problem("\(program): \(error); \(program) --help says more")
                end(usage)
            } catch {
                Console.problem("\(program): \(error)")
                end(failure)
            }
        }
        dispatchMain()
    }

    private static func end(_ status: ExitStatus) -> Never {
        // Work that was not waited for may have left the terminal as it used it.
        TerminalRestoration.run()
        _exit(status.rawValue)
    }
}

/// The wish of a person, or of the system, that the process end before its work is done: SIGINT, SIGTERM or SIGHUP.
///
/// From the making of the value on these signals do not end the process by themselves: the first one runs `stop`, after
/// which the work is to end soon; the second ends the process at once, after ``TerminalRestoration``. A signal that the
/// process was told to ignore stays ignored. One for a process.
package final class Interruption: Sendable {
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
    package init(_ stop: @escaping @Sendable () async -> Void) {
        guard let line = Self.line else { return }
        LoopThread.start { [self] in
            var number: UInt8 = 0
            while read(line.outside, &number, 1) == 1 || errno == EINTR {
                if number > 0 { handle(Int32(number), stop) }
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
    package var isRequested: Bool { first.withLock { $0 != nil } }

    /// What the process ends with, as shells count it, when everything has been stopped; nil when no signal has come.
    package func finish() async -> ExitStatus? {
        guard let first = first.withLock({ $0 }) else { return nil }
        await first.stopping.value
        switch first.signal {
        case SIGTERM: return .terminated
        case SIGHUP: return .hungUp
        default: return .interrupted
        }
    }

    private func handle(_ number: Int32, _ stop: @escaping @Sendable () async -> Void) {
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
    package static func isIgnored(_ number: Int32) -> Bool { SignalAction.isIgnored(number) }
}

/// A signal that comes while a command has begun nothing that would have to be stopped, or never does: it reads what images
/// there are, or looks into the cache.
package enum EarlyInterruption {
    /// Set before the handlers that read it are there, and never again.
    private nonisolated(unsafe) static var line: StaticString = ""

    /// From now on SIGINT, SIGTERM and SIGHUP end the process at once, with a word and the status that shells know them by,
    /// until there is an ``Interruption``. One that the process was told to ignore stays ignored.
    ///
    /// - Parameters:
    ///   - line: What is written to standard error, with its line feed.
    ///   - isQuiet: Whether it is left out.
    package static func install(_ line: StaticString, isQuiet: Bool) {
        self.line = line
        for number in [SIGINT, SIGTERM, SIGHUP] where !Interruption.isIgnored(number) {
            // All that is done in a handler is allowed there.
            if isQuiet {
                signal(number) { _exit(128 + $0) }
            } else {
                signal(number) { number in
                    EarlyInterruption.writeMessage()
                    _exit(128 + number)
                }
            }
        }
    }

    private static func writeMessage() { _ = write(STDERR_FILENO, line.utf8Start, line.utf8CodeUnitCount) }
}

/// The work that makes the terminal usable again when the process ends while a program uses it in a way of its own.
package enum TerminalRestoration {
    private static let restoration = Locked<(@Sendable () -> Void)?>(nil)

    /// Runs `restoration` before the process ends by ``ExitStatus`` or by a second signal, unless ``end()`` comes first. It
    /// takes the place of earlier work, may block for a moment, and must not call this type.
    package static func begin(_ restoration: @escaping @Sendable () -> Void) {
        self.restoration.withLock { $0 = restoration }
    }

    /// The terminal is usable again.
    package static func end() { restoration.withLock { $0 = nil } }

    /// Does the work, once. A second caller returns when it is done. Not for handlers of signals.
    static func run() {
        restoration.withLock { restoration in
            restoration?()
            restoration = nil
        }
    }
}
