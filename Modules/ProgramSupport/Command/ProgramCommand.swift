/// A command of a program. It parses its options one by one, then the other arguments, and runs.
package protocol ProgramCommand: Sendable {
    /// The name of the command on the command line.
    static var name: String { get }
    static var help: String { get }

    init()

    /// Parses an option, and its value if it has one. Returns false if the command has no such option. Throws
    /// ``UsageError`` if the value is missing or invalid.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool

    /// Receives the arguments that are not options, and validates the command line. Not called if help is requested.
    /// Throws ``UsageError`` if the command line is invalid. The default implementation throws it for any argument.
    mutating func finish(_ words: [String]) throws

    func run() async throws -> ExitStatus
}

extension ProgramCommand {
    package mutating func finish(_ words: [String]) throws { try Self.rejectWords(words) }

    /// Throws ``UsageError`` if there is an argument.
    package static func rejectWords(_ words: [String]) throws {
        if let extra = words.first { throw UsageError("\(name) has an unexpected argument '\(extra)'") }
    }

    /// Parses the arguments and runs the command, or prints its help. Prints a ``UsageError`` with a reference to this
    /// command's help, and returns ``ExitStatus/usage``. Throws the other errors of the command.
    fileprivate static func start(_ words: some Sequence<String>, of program: String) async throws -> ExitStatus {
        do {
            return try await startOrThrow(words)
        } catch let error as UsageError {
            Console.problem("\(program): \(error); see '\(program) \(name) --help'")
            return .usage
        }
    }

    private static func startOrThrow(_ words: some Sequence<String>) async throws -> ExitStatus {
        var arguments = Arguments(words)
        var command = Self()
        var showsHelp = false
        while let option = arguments.nextOption() {
            if option == "--help" || option == "-h" {
                showsHelp = true
            } else if try !command.take(option, from: &arguments) {
                throw UsageError("\(name) has no option '\(option)'")
            }
        }
        try arguments.finish()
        guard !showsHelp else {
            Console.output(help)
            return .success
        }
        try command.finish(arguments.rest)
        return try await command.run()
    }
}

/// A program whose first argument names a command.
package struct CommandProgram: Sendable {
    package let name: String
    private let help: String
    private let version: String
    private let commands: [any ProgramCommand.Type]

    package init(name: String, help: String, version: String, commands: [any ProgramCommand.Type]) {
        self.name = name
        self.help = help
        self.version = version
        self.commands = commands
    }

    /// Runs the command that the arguments name, or prints help or the version.
    ///
    /// - Parameter words: The arguments after the program's name.
    /// - Throws: ``UsageError`` if the name is missing or unknown. Any error of the command, except a ``UsageError``,
    ///   which is printed and returned as ``ExitStatus/usage``.
    package func run(_ words: some Sequence<String>) async throws -> ExitStatus {
        var words = Array(words)
        if words.first == "help", words.count > 1 { words = words.dropFirst() + ["--help"] }
        switch words.first {
        case "--help", "-h", "help": Console.output(help)
        case "--version": Console.output("\(name) \(version)\n")
        case let word?:
            guard let command = commands.first(where: { $0.name == word }) else {
                throw UsageError("unknown command '\(word)'")
            }
            return try await command.start(words.dropFirst(), of: name)
        case nil: throw UsageError("no command given")
        }
        return .success
    }
}
