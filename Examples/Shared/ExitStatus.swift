import Glibc

/// How a process ends: 0 all well, 1 something failed, 2 the command line makes no sense.
public enum ExitStatus: Int32 {
    case success = 0
    case failure = 1
    case usage = 2

    /// Runs a program's body and ends the process with what it says.
    public static func end(_ program: String, _ body: @Sendable () async throws -> ExitStatus) async -> Never {
        do {
            exit(try await body().rawValue)
        } catch let error as UsageError {
            Console.problem("\(program): \(error)\ntry: \(program) --help")
            exit(usage.rawValue)
        } catch {
            Console.problem("\(program): \(error)")
            exit(failure.rawValue)
        }
    }
}
