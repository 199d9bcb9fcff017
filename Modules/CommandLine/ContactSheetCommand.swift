import Alcedo
import AlcedoProgramSupport

struct ContactSheetCommand: ProgramCommand {
    static let name = "contact-sheet"
    static let help =
        """
        usage: alcedo contact-sheet URL|FILE|DIRECTORY... [options]

        Draws all images on one PNG file, one per cell. An image that fails is reported on standard error, and its
        cell is empty.

          --output, -o FILE       write the sheet to FILE, or to standard output for - (default: contact-sheet.png)
          --columns N             draw N cells per row (default: a square sheet, with at most 16 columns for up to 1000
                                  images)
          --cell N                fit each image into N x N pixels (default: 160, or less if the sheet would exceed
                                  67 million pixels)

        """ + ImageOptions.help(jobs: 8)

    private var columns: Int?
    private var side: Int?
    private var options = ImageOptions()

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--columns": columns = try arguments.number(of: option, in: 1...1_000)
        case "--cell": side = try arguments.number(of: option, in: 1...4_096)
        default: return try options.take(option, from: &arguments)
        }
        return true
    }

    mutating func finish(_ words: [String]) throws {
        try options.finish(words, for: Self.name, takesStandardOutput: true)
        guard let output = options.output else { return }
        if output.hasSuffix("/") {
            throw UsageError("--output needs a file, not the directory '\(output)'")
        }
        if ImageFileExtension.isImage(output), OutputFormat(fileName: output) != .png {
            throw UsageError("'\(output)' does not end in .png")
        }
    }

    func run() async throws -> ExitStatus {
        let images = try await options.images()
        let tally = RunTally(of: images.count, "loaded", options.writing.report)
        return try await options.stack.run(inputs: options.inputs, downloads: images.count, tally: tally) {
            configuration, interruption in
            var configuration = configuration
            configuration.memoryCache = nil
            let output = options.output ?? "contact-sheet.png"
            var job = ContactSheetJob(
                images: images, configuration: configuration, output: output == "-" ? nil : output,
                report: options.writing.report)
            (job.side, job.columns, job.maxConcurrentLoads) = (side, columns, options.jobs ?? job.maxConcurrentLoads)
            job.processors = options.processors
            job.replaces = options.writing.replaces
            (job.interruption, job.tally) = (interruption, tally)
            return await job.run()
        }
    }
}
