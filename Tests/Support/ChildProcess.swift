import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials

/// A process that runs an executable of the package or of the system. Killed when it is released before its end.
///
/// Uses system calls, because Foundation's `Process` reads beyond a directory entry (6.3.1), and so fails every test
/// under the address sanitizer.
package final class ChildProcess: Sendable {
    /// The source or destination of a standard stream.
    package enum Stream: Sendable {
        case file(String)
        /// The process receives a copy.
        case descriptor(Int32)
    }

    private struct CallError: Error {
        var call: String
        var number: Int32
    }

    private static let waiters = BlockingExecutor(name: "programs", maxConcurrent: 16)

    /// Variables with which a program's output does not depend on the terminal of the user who runs the tests.
    private static let plainTerminal = [
        "TERM": "xterm", "NO_COLOR": "1", "COLORTERM": "", "FORCE_COLOR": "", "CLICOLOR_FORCE": "",
    ]

    /// The process ID.
    package let id: Int32
    private let hasEnded = Watched(false)

    /// - Parameters:
    ///   - name: The executable: one that lies beside the test runner's, or the whole path of another.
    ///   - environment: Variables besides those of this process. By default, programs print no colors.
    ///   - directory: The working directory.
    ///   - hasOwnGroup: Whether the process has a process group of its own. Ctrl-Z needs one: the kernel does not stop
    ///     a process whose group has no parent in its session, as when the tests run without a shell.
    package init(
        _ name: String, _ arguments: [String] = [], environment: [String: String] = [:], directory: String,
        input: Stream,
        output: Stream, problems: Stream, hasOwnGroup: Bool = false
    ) throws {
        let path = name.hasPrefix("/") ? name : try Self.path(of: name)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, problems)] {
            switch stream {
            case .file(let file):
                let flags = number == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT
                posix_spawn_file_actions_addopen(&actions, number, file, flags, 0o600)
            case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
            }
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Shells ignore the first two signals in background jobs, and nohup the third. Child processes inherit that.
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGQUIT, SIGHUP] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let flags = POSIX_SPAWN_SETSIGDEF | (hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let variables = ProcessInfo.processInfo.environment.merging(Self.plainTerminal) { $1 }
            .merging(environment) { $1 }
        var process: pid_t = 0
        // The shell changes the directory and closes the open files of other tests, because a socket that stays open in
        // a child never looks closed to its server.
        let shell = """
            cd "$1" && shift
            for file in /proc/self/fd/*; do [ "${file##*/}" -le 2 ] || eval "exec ${file##*/}>&-"; done
            exec "$@"
            """
        let result = Self.withCStrings(["bash", "-c", shell, "bash", directory, path] + arguments) { words in
            Self.withCStrings(variables.map { "\($0)=\($1)" }) { variables in
                posix_spawn(&process, "/bin/bash", &actions, &attributes, words, variables)
            }
        }
        guard result == 0 else { throw CallError(call: "posix_spawn", number: result) }
        id = process
    }

    deinit {
        guard !hasEnded.value else { return }
        kill(id, SIGKILL)
        var status: Int32 = 0
        waitpid(id, &status, 0)
    }

    /// Returns the path of an executable of the package, which is beside the test runner's.
    package static func path(of name: String) throws -> String {
        let runner = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: runner).deletingLastPathComponent().appending(path: name).path
    }

    /// Whether the process has not ended. A wait for one of its effects must end when this is false.
    package var isRunning: Bool {
        var info = siginfo_t()
        return !hasEnded.value && waitid(P_PID, id_t(id), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_signo == 0
    }

    /// Sends the process a signal, unless its end has been awaited.
    package func send(_ signal: Int32) {
        if !hasEnded.value { kill(id, signal) }
    }

    /// Returns the exit status, or the negative number of the signal that ended the process. Call it once.
    package func wait() async throws -> Int32 {
        try await Self.waiters.run { [self] in
            var status: Int32 = 0
            while waitpid(id, &status, 0) < 0 {
                guard errno == EINTR else { throw CallError(call: "waitpid", number: errno) }
            }
            hasEnded.update { $0 = true }
            return status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
        }
    }

    /// Returns when a signal has stopped the process. Throws if the process ends first.
    package func waitUntilStopped() async throws {
        try await Self.waiters.run { [self] in
            var info = siginfo_t()
            // The status is kept, so that `wait()` finds an end.
            while waitid(P_PID, id_t(id), &info, WSTOPPED | WEXITED | WNOWAIT) < 0 {
                guard errno == EINTR else { throw CallError(call: "waitid", number: errno) }
            }
            guard info.si_code == Self.hasStopped else { throw CallError(call: "stopping", number: info.si_code) }
        }
    }

    /// CLD_STOPPED, whose type differs between C libraries.
    private static let hasStopped: Int32 = 5

    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
