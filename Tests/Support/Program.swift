package import FoundationEssentials

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
        let folder = try TemporaryDirectory()
        let output = folder.url.appending(path: "output")
        let problems = folder.url.appending(path: "problems")
        let inputFile = folder.url.appending(path: "input")
        try input.write(to: inputFile)
        let process = try ChildProcess(
            name, arguments, environment: environment, folder: folder.path, input: .file(inputFile.path),
            output: .file(outputPath ?? output.path), problems: .file(problems.path))
        let status = try await process.wait()
        return Outcome(
            status: status,
            output: outputPath == nil ? String(decoding: try Data(contentsOf: output), as: UTF8.self) : "",
            problems: String(decoding: try Data(contentsOf: problems), as: UTF8.self))
    }
}
