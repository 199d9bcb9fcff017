package import FoundationEssentials
package import Testing

/// Runs an executable of the package as a person would, and keeps what it printed.
package struct Program: Sendable {
    package struct Outcome: Sendable {
        /// What the process ended with; a signal's number, negative, when one ended it.
        package var status: Int32
        package var output: String
        package var problems: String
    }

    package let name: String
    package var environment: [String: String]
    /// Where standard output goes; nil keeps it.
    package var outputPath: String?

    package init(name: String, environment: [String: String] = [:], outputPath: String? = nil) {
        self.name = name
        self.environment = environment
        self.outputPath = outputPath
    }

    /// Runs to the end. Output goes through files, so that no pipe can fill up.
    ///
    /// - Parameter input: What standard input has. Default: nothing.
    package func run(_ arguments: [String], input: Data = Data()) async throws -> Outcome {
        try await start(arguments, input: input).outcome()
    }

    /// Starts it, as ``run(_:input:)`` does, and returns while it runs.
    package func start(_ arguments: [String], input: Data = Data()) throws -> Running {
        let folder = try TemporaryDirectory()
        let inputFile = folder.url.appending(path: "input")
        try input.write(to: inputFile)
        let output = folder.url.appending(path: "output")
        let problems = folder.url.appending(path: "problems")
        let process = try ChildProcess(
            name, arguments, environment: environment, folder: folder.path, input: .file(inputFile.path),
            output: .file(outputPath ?? output.path), problems: .file(problems.path))
        return Running(
            folder: folder, process: process, output: outputPath == nil ? output : nil, problems: problems)
    }

    /// A program that has been started. Killed when it is let go before its end.
    package struct Running: Sendable {
        /// Where it runs, and where its output goes.
        package let folder: TemporaryDirectory
        package let process: ChildProcess
        let output: URL?
        let problems: URL

        /// Returns once the condition holds, which is about files that the program writes. Records a failure of the test
        /// and throws if the program ends first, or if the condition does not hold within the time of ``eventually``.
        ///
        /// A poll, because files of another process signal nothing that all systems report.
        package func waitUntil(
            _ comment: Comment, location: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
        ) async throws {
            try await eventually(
                {
                    // In this order: a program may end right after it has met the condition.
                    let isRunning = process.isRunning
                    if try condition() { return true }
                    try #require(isRunning, "the program ended first: \(comment)", sourceLocation: location)
                    return false
                }, comment, location: location)
        }

        /// The bytes that the program has written to standard output so far.
        package var outputSoFar: String { get throws { try output.map(Self.text) ?? "" } }

        /// The bytes that the program has written to standard error so far.
        package var problemsSoFar: String { get throws { try Self.text(of: problems) } }

        private static func text(of file: URL) throws -> String {
            String(decoding: try Data(contentsOf: file), as: UTF8.self)
        }

        /// Returns when it has ended. To be called once.
        package func outcome() async throws -> Outcome {
            let status = try await process.wait()
            return Outcome(
                status: status,
                output: try outputSoFar,
                problems: try problemsSoFar)
        }
    }
}
