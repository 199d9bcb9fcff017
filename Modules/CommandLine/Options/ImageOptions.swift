import Alcedo
import AlcedoProgramSupport

/// The options of commands that load images and write files.
struct ImageOptions: Sendable {
    /// Returns the help text of the options.
    ///
    /// - Parameter jobs: The default of `--jobs`, the maximum number of images processed at once.
    static func help(jobs: Int) -> String {
        "  --jobs N                process at most N images at once (default: \(jobs))\n" + WritingOptions.help
            + ProcessorArgument.help + InputOptions.help + StackOptions.help
    }

    private(set) var output: String?
    private(set) var jobs: Int?
    private(set) var processors: [any ImageProcessing] = []
    private(set) var writing = WritingOptions()
    private(set) var stack = StackOptions()
    private(set) var inputs = InputOptions()

    /// Parses an option and its value. Returns false if the option belongs to another group.
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

    /// Parses the arguments that name images, and validates the output.
    ///
    /// - Parameters:
    ///   - words: The arguments that are not options.
    ///   - command: The name of the command, for messages.
    ///   - takesStandardOutput: Whether the command accepts `--output -`.
    /// - Throws: ``UsageError`` if the arguments or the output are invalid.
    mutating func finish(_ words: [String], for command: String, takesStandardOutput: Bool) throws {
        try inputs.take(words, for: command)
        guard output == "-" else { return }
        if !takesStandardOutput { throw UsageError("\(command) writes to a directory, not to standard output") }
        if writing.report.isJSON { throw UsageError("--json and --output - cannot both use standard output") }
    }

    /// Parses the arguments of a desktop's thumbnailer: the path of an image, and that of the thumbnail, which is
    /// replaced. Nothing is cached. Throws ``UsageError`` if there are other arguments.
    mutating func finishThumbnailer(_ words: [String]) throws {
        guard words.count == 2, !words.contains("-"), output == nil else {
            throw UsageError("-s needs the path of one image and the path of its thumbnail, without --output")
        }
        try inputs.take([words[0]], for: "-s")
        output = words[1]
        stack.disableCache()
        writing.allowReplacement()
    }

    /// Returns the value of `--output`. Throws ``UsageError`` if the option is missing.
    func requiredOutput(for command: String) throws -> String {
        guard let output else { throw UsageError("\(command) needs --output") }
        return output
    }

    /// Returns the images, and prints how many files were skipped in directories.
    func images() async throws -> ImageList {
        let images = try await inputs.images(changing: stack.network.apply)
        writing.report.printSkipped(images, asNotice: output == "-")
        return images
    }

    /// Writes files of the images, and returns the exit status of the command.
    func run(
        _ title: String, _ images: ImageList, to destination: OutputDestination, by maker: any FileMaking, jobs: Int
    ) async throws -> ExitStatus {
        let tally = RunTally(of: images.count, "written", writing.report)
        return try await stack.run(inputs: inputs, downloads: images.count, tally: tally) {
            configuration, interruption in
            await FileJob(
                title: title, images: images, configuration: configuration, destination: destination, maker: maker,
                encodingLimit: inputs.encodingLimit, timeout: stack.network.timeout, maxConcurrentImages: jobs,
                replaces: writing.replaces, report: writing.report, interruption: interruption, tally: tally
            ).run()
        }
    }
}

/// The options of commands that write files: reporting, and replacing existing files.
struct WritingOptions: Sendable {
    static let help =
        """
          --force, -f             replace existing output files, but never an input image; without it, an existing file
                                  is an error before any work begins

        """ + ReportOptions.help

    private(set) var replaces = false
    private(set) var reporting = ReportOptions()

    var report: JobReport { reporting.report }

    /// Lets existing files be replaced, as `--force` does.
    mutating func allowReplacement() { replaces = true }

    /// Parses an option and its value. Returns false if the option belongs to another group.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--force", "-f": replaces = true
        default: return try reporting.take(option, from: &arguments)
        }
        return true
    }
}

/// The options that control reporting.
struct ReportOptions: Sendable {
    static let help = """
          --json                  print one JSON object per line with input, output, frame, width, height, bytes,
                                  layer, lost, damage (harmless, wrongPixels or missingPixels), damageMessage,
                                  skipped and error; null means unknown or none
          --quiet, -q             print only problems: no summary, progress or notices

        """

    var report = JobReport(program: "alcedo")

    /// Parses an option and its value. Returns false if the option belongs to another group.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--json": report.isJSON = true
        case "--quiet", "-q": report.isQuiet = true
        default: return false
        }
        return true
    }
}
