import Alcedo
import AlcedoProgramSupport
import AlcedoTesting
import CProcessRun
import CReferenceDecoders
import FoundationEssentials

/// `alcedo-bench inspect`
struct InspectBenchCommand: ProgramCommand {
    static let name = "inspect"
    static let help = """
        usage: alcedo-bench inspect [options]

        Measures 'alcedo inspect' of a directory of small files (JPEG, PNG, WebP and GIF, 32 to 95 pixels wide),
        alternately with a C loop that reads each file and the header of its image with the C libraries and writes a
        line for it, and with vipsheader if it is installed (Debian: libvips-tools). The output goes to /dev/null.
        Prints medians of the rounds, and ratios of medians. The program alcedo must be in the directory of this
        program, or --alcedo names it.

          --files N      inspect N files (default: 10000)
          --rounds N     measure N rounds (default: 5)
          --alcedo PATH  measure the program PATH

        """

    private var fileCount = 10_000
    private var rounds = 5
    private var alcedo = BenchProcess.neighbor("alcedo")

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--files": fileCount = try arguments.number(of: option, in: 1...100_000)
        case "--rounds": rounds = try arguments.number(of: option, in: 1...1_000)
        case "--alcedo": alcedo = try arguments.value(of: option)
        default: return false
        }
        return true
    }

    func run() async throws -> ExitStatus {
        let scratch = try BenchDirectory(in: FileManager.default.temporaryDirectory)
        defer { scratch.remove() }
        let paths = try Self.makeFiles(fileCount, in: scratch.url)
        var contenders = [
            AlternatingRuns.Contender("alcedo inspect") { directory in
                try Self.time(alcedo, ["inspect", directory])
            },
            .init("C loop") { _ in try await ThumbnailTime.of { try Self.printHeaders(paths) } },
        ]
        if let vipsheader = BenchProcess.installed("vipsheader") {
            contenders.append(.init("vipsheader") { _ in try Self.time(vipsheader, paths) })
        }
        let runs = try await AlternatingRuns([scratch.url.path], rounds: rounds, contenders)
        Console.output(BenchTable.row(["\(fileCount) files", "ms", "processor, ms", "alcedo relative to it", "goal"]))
        for name in contenders.map(\.name) {
            let ratio = name == "alcedo inspect" ? nil : runs.ratio("alcedo inspect", to: [name])
            if name == "C loop", let ratio {
                BenchFigure("inspect of small files: time relative to the C loop", ratio, .atMost(1.5)).record()
            }
            let times = [runs.median(name), runs.median(name, \.processor)].map(AlternatingRuns.text)
            let comparison = ratio.map { [AlternatingRuns.text($0), name == "C loop" ? "at most 1.5" : ""] } ?? []
            Console.output(BenchTable.row([name] + times + comparison))
        }
        return .success
    }

    /// Writes images of various sizes and formats, and returns their paths.
    private static func makeFiles(_ count: Int, in directory: URL) throws -> [String] {
        let codecs = CodecRegistry.standard
        let formats = [ImageFormat.jpeg, .png, .webp, .gif]
        let images = try formats.flatMap { format in
            try stride(from: 32, to: 96, by: 9).map { side in
                let image = DecodedImage.coordinates(PixelSize(width: side, height: side * 3 / 4))
                guard let encoder = codecs.encoder(for: format, quality: 0.8) else {
                    throw BenchError(description: "there is no encoder for \(format)")
                }
                return (format, try encoder.encode(image))
            }
        }
        return try (0..<count).map { number in
            let (format, data) = images[number % images.count]
            let file = directory.appending(path: "\(number).\(format)")
            try data.write(to: file)
            return file.path
        }
    }

    /// Runs a program, and returns its time. Throws if it fails.
    private static func time(_ program: String, _ words: [String]) throws -> ThumbnailTime {
        let time = try BenchProcess.time(of: program, words)
        guard time.status == 0 else { throw BenchError(description: "\(program): exit status \(time.status)") }
        return ThumbnailTime(wall: time.wall, processor: time.processor)
    }

    private static func printHeaders(_ paths: [String]) throws {
        let count = BenchProcess.withArguments(paths) { alcedo_reference_print_headers($0, paths.count, "/dev/null") }
        guard count == paths.count else {
            throw BenchError(description: "the C loop read \(count) of \(paths.count) headers")
        }
    }
}
