import Alcedo
import ExampleSupport

/// The options of commands that load images and write what they make of them.
struct ImageOptions: Sendable {
    /// - Parameter jobs: How many images are worked on at once where nothing is said.
    static func help(jobs: Int) -> String {
        "  --jobs N         work on at most N images at once (default: \(jobs))\n" + WritingOptions.help
            + ProcessorArgument.help + InputOptions.help + StackOptions.help
    }

    private(set) var output: String?
    private(set) var jobs: Int?
    private(set) var processors: [any ImageProcessing] = []
    private(set) var writing = WritingOptions()
    private(set) var stack = StackOptions()
    private var inputs = InputOptions()

    /// Takes an option and its value. Returns false for one that is about something else.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--output", "-o": output = try arguments.value(of: option)
        case "--jobs": jobs = try arguments.number(of: option, in: 1...256)
        case "--processor": processors.append(try ProcessorArgument(arguments.value(of: option)).processor)
        default:
            return try inputs.take(option, from: &arguments) || writing.take(option, from: &arguments)
                || stack.take(option, from: &arguments)
        }
        return true
    }

    /// Takes the words that name images.
    ///
    /// - Parameter takesStandardOutput: Whether `--output -` makes sense.
    mutating func finish(_ words: [String], for command: String, takesStandardOutput: Bool) throws {
        try inputs.take(words, for: command)
        guard output == "-" else { return }
        if !takesStandardOutput { throw UsageError("\(command) writes to a folder, not to standard output") }
        if writing.report.isJSON { throw UsageError("--json and --output - are both standard output") }
    }

    /// Throws ``UsageError`` when there is none.
    func requiredOutput(for command: String) throws -> String {
        guard let output else { throw UsageError("\(command) needs --output") }
        return output
    }

    func images() async throws -> ImageList { try await inputs.images(changing: stack.network.apply) }

    /// Makes files of images.
    func run(
        _ title: String, _ images: ImageList, to place: FilePlace, by maker: any FileMaking, jobs: Int
    ) async throws -> ExitStatus {
        let tally = RunTally(of: images.count, "written", writing.report)
        return try await stack.run(downloads: images.count, tally: tally) { configuration, interruption in
            await FileJob(
                title: title, images: images, configuration: configuration, place: place, maker: maker, width: jobs,
                replaces: writing.replaces, report: writing.report, interruption: interruption, tally: tally
            ).run()
        }
    }
}
