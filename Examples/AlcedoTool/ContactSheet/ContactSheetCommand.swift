import Alcedo
import ExampleSupport
import FoundationEssentials

/// `alcedo contact-sheet`
struct ContactSheetCommand {
    private static let help = """
        usage: alcedo contact-sheet URL|FILE... [options]

        Draws all images on one picture, a cell each, and writes it as PNG. What cannot be read is a line on standard
        error and an empty cell.

          --columns N      cells in a row (default: as many as make the sheet square, at most 16)
          --cell N         a cell's picture is at most N pixels wide and high (default: 160)
          --output FILE    where the sheet goes (default: contact-sheet.png)

        """ + ProcessorArgument.help + StackOptions.help

    private var images: [ImageArgument] = []
    private var columns: Int?
    private var side = 160
    private var output = "contact-sheet.png"
    private var processors: [any ImageProcessing] = []
    private var stack = StackOptions()
    private var showsHelp = false

    init(_ words: some Sequence<String>) throws {
        var arguments = Arguments(words)
        while let option = arguments.nextOption() {
            switch option {
            case "--columns": columns = try arguments.number(of: option, in: 1...1_000)
            case "--cell": side = try arguments.number(of: option, in: 1...4_096)
            case "--output", "-o": output = try arguments.value(of: option)
            case "--processor": processors.append(try ProcessorArgument(arguments.value(of: option)).processor)
            case "--help", "-h": showsHelp = true
            case _ where try stack.take(option, from: &arguments): continue
            default: throw UsageError("contact-sheet has no option '\(option)'")
            }
        }
        try arguments.finish()
        if !showsHelp { images = try stack.images(arguments.rest, for: "contact-sheet") }
    }

    func run() async throws -> ExitStatus {
        guard !showsHelp else {
            Console.output(Self.help)
            return .success
        }
        return try await stack.run(downloads: images.count) { configuration, interruption in
            var configuration = configuration
            configuration.memoryCache = nil
            var job = ContactSheetJob(
                program: "alcedo", images: images, configuration: configuration,
                output: URL(filePath: output, directoryHint: .notDirectory), side: side, columns: columns)
            job.processors = processors
            job.interruption = interruption
            return await job.run()
        }
    }
}
