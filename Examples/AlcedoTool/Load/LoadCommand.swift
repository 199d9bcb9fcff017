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
          --cache DIR      keep original bytes, and parts of them, in DIR (default: the user's cache directory)
          --no-cache       keep nothing on disk
          --repeat N       load the list N times in one process: what the first pass loaded, the next has in memory

        """ + ProcessorArgument.help + NetworkOptions.help

    /// Most bytes of unfinished transfers on disk.
    private static let partLimit = 256 << 20

    private var images: [ImageArgument] = []
    private var output: String?
    private var longestSide: Int?
    private var processors: [any ImageProcessing] = []
    private var cache = ImagePipeline.Configuration.standardCacheDirectory
    private var passes = 1
    private var network = NetworkOptions()
    private var showsHelp = false

    init(_ words: some Sequence<String>) throws {
        var arguments = Arguments(words)
        while let option = arguments.nextOption() {
            switch option {
            case "--output", "-o": output = try arguments.value(of: option)
            case "--size": longestSide = try arguments.number(of: option, in: 1...65_535)
            case "--processor": processors.append(try ProcessorArgument(arguments.value(of: option)).processor)
            case "--cache": cache = URL(filePath: try arguments.value(of: option), directoryHint: .isDirectory)
            case "--no-cache": cache = nil
            case "--repeat": passes = try arguments.number(of: option, in: 1...1000)
            case "--help", "-h": showsHelp = true
            case _ where try network.take(option, from: &arguments): continue
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
        let log = network.isVerbose ? TransferLog { Console.note($0) } : nil
        let downloader = try network.downloader(parts: parts, downloads: images.count * passes, log: log)
        let interruption = Interruption { await downloader.shutDown() }
        var job = LoadJob(
            program: "alcedo",
            images: images.map { $0.changing { network.apply(to: $0) } },
            configuration: .standard(cacheDirectory: cache, downloader: downloader),
            outputDirectory: URL(filePath: output ?? ".", directoryHint: .isDirectory))
        job.writesImages = output != nil
        job.longestSide = longestSide
        job.processors = processors
        job.passes = passes
        job.width = network.width(atLeast: job.width)
        job.interruption = interruption
        let isGood = await job.run()
        if let log { Console.note(log.summary) }
        return await interruption.finish() ?? (isGood ? .success : .failure)
    }

    /// Where the beginnings of broken transfers are kept: beside the images, in a folder of their own, whose name is none that
    /// the images' cache has for its own purposes.
    private var parts: FileDiskCache? {
        cache.map {
            FileDiskCache(
                directory: $0.appending(path: "parts", directoryHint: .isDirectory), sizeLimit: Self.partLimit)
        }
    }
}
