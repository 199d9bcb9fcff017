import AlcedoLibc
import Dispatch

/// How a process ends: 0 all well, 1 something failed, 2 the command line makes no sense; 128 and a signal's number when
/// one has ended it early.
public enum ExitStatus: Int32, Sendable {
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
    public static func end(_ program: String, _ body: @escaping @Sendable () async throws -> ExitStatus) -> Never {
        Console.keepPlaces()
        // The language's own handler asks at a terminal what to do, for half a minute, where the key is to end the process.
        if !Interruption.isIgnored(SIGQUIT) { signal(SIGQUIT, SIG_DFL) }
        Task {
            do {
                let status = try await body()
                if let loss = Console.lossOfOutput { throw loss }
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
