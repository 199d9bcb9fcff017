import Alcedo
import ExampleSupport
import FoundationEssentials

/// `alcedo thumbnail`
struct ThumbnailCommand {
    private static let help = """
        usage: alcedo thumbnail URL|FILE... --size N --output DIR [options]

        Makes a small picture of every image, decoded at about its size, and writes it to DIR under the image's name. A
        file there that has the name is overwritten, unless it is one of the images. What cannot be read is a line on
        standard error, and the others are made.

          --size N         at most N pixels wide and high
          --output DIR     where the thumbnails go
          --format NAME    png, jpeg or webp (default: jpeg)
          --quality Q      of jpeg and webp, from 1 to 100 (default: 80)
          --jobs N         work on at most N images at once (default: 8)

        """ + ProcessorArgument.help + StackOptions.help

    private var job: (@Sendable (ImagePipeline.Configuration, Interruption) -> ThumbnailJob)?
    private var stack = StackOptions()
    private var count = 0

    init(_ words: some Sequence<String>) throws {
        var arguments = Arguments(words)
        var (side, output): (Int?, String?)
        var format = ThumbnailFormat.jpeg
        var (quality, jobs) = (80, 8)
        var processors: [any ImageProcessing] = []
        var showsHelp = false
        while let option = arguments.nextOption() {
            switch option {
            case "--size": side = try arguments.number(of: option, in: 1...65_535)
            case "--output", "-o": output = try arguments.value(of: option)
            case "--format": format = try ThumbnailFormat(option, arguments.value(of: option))
            case "--quality": quality = try arguments.number(of: option, in: 1...100)
            case "--jobs": jobs = try arguments.number(of: option, in: 1...256)
            case "--processor": processors.append(try ProcessorArgument(arguments.value(of: option)).processor)
            case "--help", "-h": showsHelp = true
            case _ where try stack.take(option, from: &arguments): continue
            default: throw UsageError("thumbnail has no option '\(option)'")
            }
        }
        try arguments.finish()
        guard !showsHelp else { return }
        let images = try stack.images(arguments.rest, for: "thumbnail")
        guard let side else { throw UsageError("thumbnail needs --size") }
        guard let output else { throw UsageError("thumbnail needs --output") }
        count = images.count
        let encoder = format.encoder(quality: quality)
        job = { [processors, format, jobs] configuration, interruption in
            var configuration = configuration
            configuration.memoryCache = nil
            var job = ThumbnailJob(
                program: "alcedo", images: images, configuration: configuration,
                outputDirectory: URL(filePath: output, directoryHint: .isDirectory), side: side, encoder: encoder,
                fileExtension: format.fileExtension)
            job.processors = processors
            job.width = jobs
            job.interruption = interruption
            return job
        }
    }

    func run() async throws -> ExitStatus {
        guard let job else {
            Console.output(Self.help)
            return .success
        }
        return try await stack.run(downloads: count) { await job($0, $1).run() }
    }
}
