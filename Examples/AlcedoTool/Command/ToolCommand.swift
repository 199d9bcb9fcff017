import ExampleSupport

/// One command of the tool: takes its options one by one, then the other words, and runs.
protocol ToolCommand: Sendable {
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

extension ToolCommand {
    mutating func finish(_ words: [String]) throws { try Self.refuse(words) }

    /// Throws ``UsageError`` when there is a word.
    static func refuse(_ words: [String]) throws {
        if let extra = words.first { throw UsageError("\(name) does not take '\(extra)'") }
    }

    /// Reads the words, and runs, or helps. Who gets them wrong is led to this command's help.
    static func start(_ words: some Sequence<String>) async throws -> ExitStatus {
        do {
            return try await startOrThrow(words)
        } catch let error as UsageError {
            Console.problem("alcedo: \(error); alcedo \(name) --help says more")
            return .usage
        }
    }

    private static func startOrThrow(_ words: some Sequence<String>) async throws -> ExitStatus {
        var arguments = Arguments(words)
        var command = Self()
        var wantsHelp = false
        while let option = arguments.nextOption() {
            if option == "--help" || option == "-h" {
                wantsHelp = true
            } else if try !command.take(option, from: &arguments) {
                throw UsageError("\(name) has no option '\(option)'")
            }
        }
        try arguments.finish()
        guard !wantsHelp else {
            Console.output(help)
            return .success
        }
        try command.finish(arguments.rest)
        return try await command.run()
    }
}
