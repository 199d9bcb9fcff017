import TestSupport
import Foundation

/// Runs an executable of the package as a person would, and keeps what it printed.
struct Program {
    struct Outcome {
        var status: Int32
        var output: String
        var problems: String

        /// The words of the table's lines that name this image.
        func rows(_ name: String) -> [[String]] {
            output.split(separator: "\n").filter { $0.hasSuffix("  \(name)") }
                .map { $0.split(separator: " ").map(String.init) }
        }
    }

    let name: String
    var environment: [String: String] = [:]

    /// Runs to the end. Output goes through files, so that no pipe can fill up.
    func run(_ arguments: [String]) async throws -> Outcome {
        let folder = try TemporaryDirectory()
        let process = Process()
        // The test runner's executable lies beside those of the package.
        let runner = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.executableURL = runner.deletingLastPathComponent().appending(path: name)
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let streams = try ["output", "problems"].map { name in
            let file = folder.url.appending(path: name)
            try Data().write(to: file)
            return (file: file, handle: try FileHandle(forWritingTo: file))
        }
        process.standardOutput = streams[0].handle
        process.standardError = streams[1].handle
        process.standardInput = FileHandle.nullDevice
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        return Outcome(
            status: process.terminationStatus,
            output: String(decoding: try Data(contentsOf: streams[0].file), as: UTF8.self),
            problems: String(decoding: try Data(contentsOf: streams[1].file), as: UTF8.self))
    }
}
