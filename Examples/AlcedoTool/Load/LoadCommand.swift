import Alcedo
import ExampleSupport
import FoundationEssentials

/// `alcedo load`
struct LoadCommand {
    private static let help = """
        usage: alcedo load URL|FILE... [options]

        Loads all images at once, prints where each came from, and writes contact-sheet.png.

        What broke off, or was ended by Ctrl-C (status 130) or worse, goes on where it was when the same is loaded again,
        if the server tells that it has not changed.

          --output DIR     write the contact sheet, and every image as PNG, to DIR (default: the sheet only, here)
          --size N         make images at most N pixels wide and high
          --repeat N       load the list N times in one process: what the first pass loaded, the next has in memory

        """ + ProcessorArgument.help + StackOptions.help

    private var images: [ImageArgument] = []
    private var output: String?
    private var longestSide: Int?
    private var processors: [any ImageProcessing] = []
    private var passes = 1
    private var stack = StackOptions()
    private var showsHelp = false

    init(_ words: some Sequence<String>) throws {
        var arguments = Arguments(words)
        while let option = arguments.nextOption() {
            switch option {
            case "--output", "-o": output = try arguments.value(of: option)
            case "--size": longestSide = try arguments.number(of: option, in: 1...65_535)
            case "--processor": processors.append(try ProcessorArgument(arguments.value(of: option)).processor)
            case "--repeat": passes = try arguments.number(of: option, in: 1...1000)
            case "--help", "-h": showsHelp = true
            case _ where try stack.take(option, from: &arguments): continue
            default: throw UsageError("load has no option '\(option)'")
            }
        }
        try arguments.finish()
        if !showsHelp { images = try stack.images(arguments.rest, for: "load") }
    }

    func run() async throws -> ExitStatus {
        guard !showsHelp else {
            Console.output(Self.help)
            return .success
        }
        return try await stack.run(downloads: images.count * passes) { configuration, interruption in
            var job = LoadJob(
                program: "alcedo", images: images, configuration: configuration,
                outputDirectory: URL(filePath: output ?? ".", directoryHint: .isDirectory))
            job.writesImages = output != nil
            job.longestSide = longestSide
            job.processors = processors
            job.passes = passes
            job.width = stack.network.width(atLeast: job.width)
            job.interruption = interruption
            return await job.run()
        }
    }
}
