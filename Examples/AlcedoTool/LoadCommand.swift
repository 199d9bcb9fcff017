import Alcedo
import ExampleSupport
import FoundationEssentials

/// `alcedo load`
struct LoadCommand {
    private static let help = """
        usage: alcedo load URL|FILE... [options]

        Loads all images at once, prints where each came from, and writes contact-sheet.png.

          --output DIR   write the contact sheet, and every image as PNG, to DIR (default: the sheet only, here)
          --size N       make images at most N pixels wide and high
          --cache DIR    keep original bytes in DIR (default: the user's cache directory)
          --no-cache     keep nothing on disk
          --repeat N     load the list N times in one process: what the first pass loaded, the next has in memory

        """

    private var images: [ImageArgument] = []
    private var output: String?
    private var longestSide: Int?
    private var cache = ImagePipeline.Configuration.standardCacheDirectory
    private var passes = 1
    private var showsHelp = false

    init(_ words: some Sequence<String>) throws {
        var arguments = Arguments(words)
        while let option = arguments.nextOption() {
            switch option {
            case "--output", "-o": output = try arguments.value(of: option)
            case "--size": longestSide = try arguments.number(of: option, in: 1...65_535)
            case "--cache": cache = URL(filePath: try arguments.value(of: option), directoryHint: .isDirectory)
            case "--no-cache": cache = nil
            case "--repeat": passes = try arguments.number(of: option, in: 1...1000)
            case "--help", "-h": showsHelp = true
            default: throw UsageError("load has no option '\(option)'")
            }
        }
        try arguments.finish()
        images = arguments.rest.map { ImageArgument($0) }
        if arguments.rest.contains(where: \.isEmpty) { throw UsageError("an argument is empty") }
        if images.isEmpty, !showsHelp { throw UsageError("load needs a URL or a file") }
    }

    func run() async throws -> ExitStatus {
        guard !showsHelp else {
            Console.output(Self.help)
            return .success
        }
        var job = LoadJob(
            program: "alcedo",
            images: images,
            configuration: .standard(cacheDirectory: cache),
            outputDirectory: URL(filePath: output ?? ".", directoryHint: .isDirectory))
        job.writesImages = output != nil
        job.longestSide = longestSide
        job.passes = passes
        return await job.run() ? .success : .failure
    }
}
