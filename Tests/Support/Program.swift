package import FoundationEssentials
package import Testing

/// Runs an executable of the package as a user would, and collects its output.
package struct Program: Sendable {
    package struct Outcome: Sendable {
        /// The exit status, or the negative number of the signal that ended the process.
        package var status: Int32
        package var output: String
        package var problems: String
    }

    package let name: String
    package var environment: [String: String]
    /// The file of standard output, or nil to collect it.
    package var outputPath: String?

    package init(name: String, environment: [String: String] = [:], outputPath: String? = nil) {
        self.name = name
        self.environment = environment
        self.outputPath = outputPath
    }

    /// Runs the program to its end. Output is written to files, so that no pipe can fill up.
    ///
    /// - Parameter input: The standard input. Default: empty.
    package func run(_ arguments: [String], input: Data = Data()) async throws -> Outcome {
        try await start(arguments, input: input).outcome()
    }

    /// Starts the program like ``run(_:input:)``, and returns while it runs.
    package func start(_ arguments: [String], input: Data = Data()) throws -> Running {
        let directory = try TemporaryDirectory()
        let inputFile = directory.url.appending(path: "input")
        try input.write(to: inputFile)
        let output = directory.url.appending(path: "output")
        let problems = directory.url.appending(path: "problems")
        let process = try ChildProcess(
            name, arguments, environment: environment, directory: directory.path, input: .file(inputFile.path),
            output: .file(outputPath ?? output.path), problems: .file(problems.path))
        return Running(
            directory: directory, process: process, output: outputPath == nil ? output : nil, problems: problems)
    }

    /// A program that was started. Killed when it is released before its end.
    package struct Running: Sendable {
        /// The working directory, which contains the output.
        package let directory: TemporaryDirectory
        package let process: ChildProcess
        let output: URL?
        let problems: URL

        /// Returns once the condition holds, which must depend on files that the program writes. Records a failure of
        /// the test and throws if the program ends first, or if the condition does not hold within the time of
        /// ``eventually``.
        ///
        /// A poll, because another process's files signal no change.
        package func waitUntil(
            _ comment: Comment, location: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
        ) async throws {
            try await eventually(
                {
                    // In this order, because a program may end right after it has met the condition.
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

        /// Returns the outcome when the program has ended. Call it once.
        package func outcome() async throws -> Outcome {
            let status = try await process.wait()
            return Outcome(
                status: status,
                output: try outputSoFar,
                problems: try problemsSoFar)
        }
    }
}
