import Alcedo
import AlcedoProgramSupport
import AlcedoTesting
import Foundation

/// The smallest full stack at work: many images from HTTP to a picture that a person looks at.
@main
enum Quickstart {
    private static let help = """
        usage: quickstart [URL|FILE...] [--output DIR]

        Loads images twice through the default stack, prints where each came from, and draws a contact sheet. Without
        arguments it serves its own sample pictures on 127.0.0.1 and loads those. Run it again: the first pass then
        comes from the disk cache.

        """

    static func main() {
        ExitStatus.end("quickstart") {
            var arguments = Arguments(CommandLine.arguments.dropFirst())
            var output = "."
            while let option = arguments.nextOption() {
                switch option {
                case "--output", "-o": output = try arguments.value(of: option)
                case "--help", "-h":
                    Console.output(help)
                    return .success
                default: throw UsageError("there is no option '\(option)'")
                }
            }
            try arguments.finish()
            let named = arguments.rest.map { ImageArgument($0) }
            let origin = named.isEmpty ? try LoopbackOrigin(directory: samples()) : nil
            defer { origin?.stop() }

            // The default stack. Every part of it is a value of `Configuration` and can be exchanged.
            let caches = ImagePipeline.Configuration.standardCacheDirectory?.deletingLastPathComponent()
                .appending(path: "alcedo-quickstart", directoryHint: .isDirectory)
            var job = LoadJob(
                images: ImageList(try origin.map(sampleImages) ?? named),
                configuration: .standard(cacheDirectory: caches),
                outputDirectory: output,
                report: JobReport(program: "quickstart"))
            // Run again, it replaces its own sheet.
            job.replaces = true
            job.passes = 2
            return await job.run() ? .success : .failure
        }
    }

    private static func samples() throws -> URL {
        guard let resources = Bundle.module.resourceURL else { throw UsageError("the sample pictures are missing") }
        return resources.appending(path: "Pictures")
    }

    private static func sampleImages(of origin: LoopbackOrigin) throws -> [ImageArgument] {
        try FileManager.default.contentsOfDirectory(atPath: samples().path).sorted().map { name in
            var request = ImageRequest(url: origin.url(for: "/\(name)"))
            // The origin's port changes from run to run; the picture's name does not.
            request.resource = ResourceKey("sample:\(name)")
            return ImageArgument(name: name, request: request)
        }
    }
}
