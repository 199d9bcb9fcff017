import AlcedoCore
import FoundationEssentials
import Glibc
import TestSupport

/// Runs an executable of the package as a person would, and keeps what it printed.
///
/// By the system's own calls: Foundation's `Process` reads beyond a directory entry (6.3.1), and so fails every test
/// under the address sanitizer.
struct Program {
    struct Outcome: Sendable {
        /// What the process ended with; a signal's number, negative, when one ended it.
        var status: Int32
        var output: String
        var problems: String

        /// The words of the table's lines that name this image.
        func rows(_ name: String) -> [[String]] {
            output.split(separator: "\n").filter { $0.hasSuffix("  \(name)") }
                .map { $0.split(separator: " ").map(String.init) }
        }
    }

    private struct Trouble: Error {
        var call: String
        var number: Int32
    }

    private static let waiters = BlockingExecutor(name: "programs", width: 8)

    let name: String
    var environment: [String: String] = [:]
    /// Where standard output goes; nil keeps it.
    var outputPath: String?

    /// Runs to the end. Output goes through files, so that no pipe can fill up.
    func run(_ arguments: [String]) async throws -> Outcome {
        let folder = try TemporaryDirectory()
        let output = folder.url.appending(path: "output")
        let problems = folder.url.appending(path: "problems")
        let process = try start(
            arguments, in: folder.path, output: outputPath ?? output.path, problems: problems.path)
        let status = try await Self.waiters.run { () -> Int32 in
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0 {
                guard errno == EINTR else { throw Trouble(call: "waitpid", number: errno) }
            }
            return status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
        }
        return Outcome(
            status: status,
            output: outputPath == nil ? String(decoding: try Data(contentsOf: output), as: UTF8.self) : "",
            problems: String(decoding: try Data(contentsOf: problems), as: UTF8.self))
    }

    private func start(
        _ arguments: [String], in folder: String, output: String, problems: String
    ) throws -> pid_t {
        // The test runner's executable lies beside those of the package.
        let runner = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(filePath: runner).deletingLastPathComponent().appending(path: name).path
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        for (number, file) in [(STDOUT_FILENO, output), (STDERR_FILENO, problems)] {
            posix_spawn_file_actions_addopen(&actions, number, file, O_WRONLY | O_CREAT, 0o600)
        }
        let variables = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        var process: pid_t = 0
        // The shell goes to the folder and closes what other tests have open: a socket that lives on in a child never
        // looks closed to its server.
        let shell = """
            cd "$1" && shift
            for file in /proc/self/fd/*; do [ "${file##*/}" -le 2 ] || eval "exec ${file##*/}>&-"; done
            exec "$@"
            """
        let result = Self.withCStrings(["bash", "-c", shell, "bash", folder, path] + arguments) { words in
            Self.withCStrings(variables.map { "\($0)=\($1)" }) { variables in
                posix_spawn(&process, "/bin/bash", &actions, nil, words, variables)
            }
        }
        guard result == 0 else { throw Trouble(call: "posix_spawn", number: result) }
        return process
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
