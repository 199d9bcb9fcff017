import Alcedo
import AlcedoProgramSupport

struct LoadCommand: ProgramCommand {
    static let name = "load"
    static let help =
        """
        usage: alcedo load URL|FILE|DIRECTORY... [options]

        Loads all images concurrently, prints where each came from, and writes contact-sheet.png.

        An interrupted download resumes in the next run if the server confirms that the content has not changed.

          --output, -o DIR        write the contact sheet, and each image as PNG, to DIR (default: only the contact
                                  sheet, to the current directory); of an animation, the first frame is written
          --no-sheet              do not draw a contact sheet
          --size N                fit each image into N x N pixels (default: full size)
          --repeat N              load the images N times in one process; later passes read from memory (default: 1)

        """ + ImageOptions.help(jobs: 16)

    private var drawsSheet = true
    private var longestSide: Int?
    private var passes = 1
    private var options = ImageOptions()

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--no-sheet": drawsSheet = false
        case "--size": longestSide = try arguments.number(of: option, in: 1...65_535)
        case "--repeat": passes = try arguments.number(of: option, in: 1...1000)
        default: return try options.take(option, from: &arguments)
        }
        return true
    }

    mutating func finish(_ words: [String]) throws {
        try options.finish(words, for: Self.name, takesStandardOutput: false)
        if let output = options.output { _ = try OutputDestination(output) }
    }

    func run() async throws -> ExitStatus {
        let images = try await options.images()
        let loads = images.count * passes
        let tally = RunTally(of: loads, "loaded", options.writing.report)
        return try await options.stack.run(inputs: options.inputs, downloads: loads, tally: tally) {
            configuration, interruption in
            var job = LoadJob(
                images: images, configuration: configuration, outputDirectory: options.output ?? ".",
                report: options.writing.report)
            job.writesImages = options.output != nil
            job.drawsSheet = drawsSheet
            job.replaces = options.writing.replaces
            job.longestSide = longestSide
            job.processors = options.processors
            job.passes = passes
            job.maxConcurrentLoads =
                options.jobs ?? options.stack.network.maxConcurrentLoads(atLeast: job.maxConcurrentLoads)
            (job.interruption, job.tally) = (interruption, tally)
            return await job.run()
        }
    }
}
