/// One command of a program: takes its options one by one, then the other words, and runs.
package protocol ProgramCommand: Sendable {
    /// As it is called.
    static var name: String { get }
    static var help: String { get }

    init()

    /// Takes an option, and its value where it has one. Returns false for one that it does not have.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool

    /// Takes what was no option, and checks that all goes together. Not called where help is wanted. Default: takes nothing.
    mutating func finish(_ words: [String]) throws

    func run() async throws -> ExitStatus
}

extension ProgramCommand {
    package mutating func finish(_ words: [String]) throws { try Self.rejectWords(words) }

    /// Throws ``UsageError`` when there is a word.
    package static func rejectWords(_ words: [String]) throws {
        if let extra = words.first { throw UsageError("\(name) does not take '\(extra)'") }
    }

    /// Reads the words, and runs, or helps. Who gets them wrong is led to this command's help.
    fileprivate static func start(_ words: some Sequence<String>, of program: String) async throws -> ExitStatus {
        do {
            return try await startOrThrow(words)
        } catch let error as UsageError {
            Console.problem("\(program): \(error); \(program) \(name) --help says more")
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

/// A program whose first argument names one of its commands.
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

    /// Runs the command that the words name.
    ///
    /// - Parameter words: What follows the program's name.
    package func run(_ words: some Sequence<String>) async throws -> ExitStatus {
        var words = Array(words)
        if words.first == "help", words.count > 1 { words = words.dropFirst() + ["--help"] }
        switch words.first {
        case "--help", "-h", "help": Console.output(help)
        case "--version": Console.output("\(name) \(version)\n")
        case let word?:
            guard let command = commands.first(where: { $0.name == word }) else {
                throw UsageError("there is no command '\(word)'")
            }
            return try await command.start(words.dropFirst(), of: name)
        case nil: throw UsageError("a command is missing")
        }
        return .success
    }
}
