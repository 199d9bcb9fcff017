import AlcedoLibc
import AlcedoRuntime
import Dispatch

/// The exit status of a process: 0 for success, 1 for a failure, 2 for an invalid command line, and 128 plus the
/// signal's number after an interruption.
package enum ExitStatus: Int32, Sendable {
    case success = 0
    case failure = 1
    case usage = 2
    case hungUp = 129
    case interrupted = 130
    case terminated = 143

    /// Runs a program's body and ends the process with the status that it returns. Prints a thrown error to standard
    /// error. The status is ``usage`` after a ``UsageError``, and ``failure`` after another error, a failed write to
    /// standard output, or if the arguments of the process are unknown.
    ///
    /// Ends the process with `_exit`. Exit handlers of TLS libraries would free state that libcurl's thread may still
    /// use, and no buffered output needs them.
    ///
    /// Lines that libraries write to standard error are discarded, except those before the end of the process.
    ///
    /// Call it from a synchronous `main`. Before an `async` main begins, Dispatch has opened files, which could take
    /// the descriptor of a closed standard stream.
    ///
    /// - Parameters:
    ///   - program: The name of the program, for messages.
    ///   - arguments: The arguments of the process, with its name. Default: those of this process.
    ///   - body: The work of the program.
    package static func end(
        _ program: String, arguments: [String] = CommandLine.arguments,
        _ body: @escaping @Sendable () async throws -> ExitStatus
    ) -> Never {
        Console.reserveStandardStreams()
        Console.discardLibraryMessages()
        // Swift finds the arguments by files in /proc. Without these, a program would not see its options.
        guard !arguments.isEmpty else {
            Console.problem("\(program): cannot read the command line, because /proc is not mounted")
            end(failure)
        }
        // Dispatch ends the process with an illegal instruction when it cannot open its own files.
        if let limit = ResourceLimit.openFiles.current, limit.soft < minimumOpenFileCount {
            guard limit.hard >= minimumOpenFileCount,
                ResourceLimit.openFiles.set(soft: minimumOpenFileCount, hard: limit.hard)
            else {
                Console.problem(
                    "\(program): at most \(limit.soft) files may be open, and at least \(minimumOpenFileCount) are "
                        + "needed: raise the limit (ulimit -n)")
                end(failure)
            }
        }
        // Swift's backtracer would wait 30 seconds for a key on a terminal, but SIGQUIT must end the process at once.
        if !Interruption.isIgnored(SIGQUIT) { signal(SIGQUIT, SIG_DFL) }
        Task {
            do {
                let status = try await body()
                if let loss = Console.outputError { throw loss }
                end(status)
            } catch let error as UsageError {
                Console.problem("\(program): \(error); see '\(program) --help'")
                end(usage)
            } catch {
                Console.problem("\(program): \(ProblemText.text("\(error)"))")
                end(failure)
            }
        }
        dispatchMain()
    }

    /// The number of open files that a program needs at least.
    private static let minimumOpenFileCount: UInt = 16

    private static func end(_ status: ExitStatus) -> Never {
        // Work that was not awaited may have left the terminal in its own mode.
        TerminalRestoration.run()
        _exit(status.rawValue)
    }
}

/// The handling of SIGINT, SIGTERM and SIGHUP, which ask the process to end early.
///
/// After the value is created, these signals no longer end the process by default. The first signal runs `stop`, after
/// which the work should end soon. The second signal runs ``TerminalRestoration`` and ends the process at once with
/// status 128 plus the signal's number. Ignored signals stay ignored. Create at most one value per process.
package final class Interruption: Sendable {
    private struct First: Sendable {
        var signal: Int32
        var stopping: Task<Void, Never>
    }

    /// The pipe through which the signal handler passes each signal to a waiting thread. The handler may make only
    /// async-signal-safe calls. `sigwait` is not an option, because Dispatch receives the signals on the main thread.
    /// If no pipe can be created, signals keep their default action.
    private static let signalPipe: (readEnd: Int32, writeEnd: Int32)? = {
        var files: [Int32] = [-1, -1]
        return pipe(&files) == 0 ? (files[0], files[1]) : nil
    }()

    private let first = Locked<First?>(nil)

    /// Installs the signal handlers.
    ///
    /// - Parameter stop: A closure that makes the work end early. It runs at most once.
    package init(_ stop: @escaping @Sendable () async -> Void) {
        guard let signalPipe = Self.signalPipe else { return }
        LoopThread.start { [self] in
            var number: UInt8 = 0
            while read(signalPipe.readEnd, &number, 1) == 1 || errno == EINTR {
                if number > 0 { handle(Int32(number), stop) }
                number = 0
            }
        }
        for number in [SIGINT, SIGTERM, SIGHUP] where !Self.isIgnored(number) {
            signal(number) { number in
                // These calls are async-signal-safe. The pipe was created before the handler was installed.
                let before = errno
                var byte = UInt8(truncatingIfNeeded: number)
                if let signalPipe = Interruption.signalPipe { _ = write(signalPipe.writeEnd, &byte, 1) }
                errno = before
            }
        }
    }

    /// Whether a signal has asked the process to end.
    package var isRequested: Bool { first.withLock { $0 != nil } }

    /// Waits until `stop` has returned, and returns the exit status of the signal. Returns nil if no signal was
    /// received.
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

    /// Returns whether the process ignores a signal.
    package static func isIgnored(_ number: Int32) -> Bool { SignalAction.isIgnored(number) }
}

/// The handling of signals while no work needs to be stopped, for example while a command lists its images or reads the
/// cache.
package enum EarlyInterruption {
    /// The message. It is set before the handlers that read it are installed, and never changed.
    private nonisolated(unsafe) static var message: StaticString = ""

    /// Installs handlers with which SIGINT, SIGTERM and SIGHUP print a message and end the process at once with status
    /// 128 plus the signal's number. An ``Interruption`` replaces them. Ignored signals stay ignored.
    ///
    /// - Parameters:
    ///   - message: The message for standard error, with its line feed.
    ///   - isQuiet: Whether the message is omitted.
    package static func install(_ message: StaticString, isQuiet: Bool) {
        self.message = message
        for number in [SIGINT, SIGTERM, SIGHUP] where !Interruption.isIgnored(number) {
            // The handlers make only async-signal-safe calls.
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

    private static func writeMessage() { _ = write(STDERR_FILENO, message.utf8Start, message.utf8CodeUnitCount) }
}

/// The action that restores the terminal if the process ends while the terminal is in a special mode.
package enum TerminalRestoration {
    private static let restoration = Locked<(@Sendable () -> Void)?>(nil)

    /// Sets the action that runs before ``ExitStatus`` or a second signal ends the process, and replaces an earlier
    /// action. The action may block briefly and must not call this type. ``end()`` removes the action.
    package static func begin(_ restoration: @escaping @Sendable () -> Void) {
        self.restoration.withLock { $0 = restoration }
    }

    /// Removes the action. Call it when the terminal is restored.
    package static func end() { restoration.withLock { $0 = nil } }

    /// Runs the action, if there is one, and removes it. A concurrent call returns when the action has run. Not
    /// async-signal-safe.
    static func run() {
        restoration.withLock { restoration in
            restoration?()
            restoration = nil
        }
    }
}
