import Alcedo
import AlcedoProgramSupport
import Foundation

/// `alcedo-bench formats`
struct FormatBenchCommand: ProgramCommand {
    static let name = "formats"
    static let help = """
        usage: alcedo-bench formats --pictures DIR [options]

        Measures thumbnails of at most 320 x 320 pixels, in memory, of the files in DIR/formats on one thread: AVIF,
        HEIF, JPEG XL and SVG, which need a build with --traits AVIF,HEIF,JXL,SVG, and the first frame and all frames of
        animations. The pipeline, two versions of libvips, and a C loop that only reads and decodes the file take turns.
        The libvips of pyvips-binary cannot load HEVC and JPEG XL. That of the system is the second (Debian: libvips42).
        Prints medians of the rounds, and ratios of medians. Beside the times is the mean PSNR against the whole image
        reduced by Pillow's Lanczos filter, on white; for SVG, against a drawing of eight times the size that is reduced
        so. Tests/Benchmarks/bench-pictures creates the images, Tests/Benchmarks/bench-peers installs the interpreter,
        and both print their paths.

          --pictures DIR  read images from DIR, which has the directory formats
          --python PATH   use the Python interpreter PATH, which has Pillow and pyvips (default: none; Alcedo and the C
                          loop only)
          --rounds N      measure N rounds (default: 5)
          --only TEXT     run only rows whose name contains TEXT, such as 'gif, all frames'
          --most N        read at most N files of each format (default: 100)

        """

    private var pictures = PictureOptions()
    private var maximumCount = 100

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        guard option == "--most" else { return try pictures.take(option, from: &arguments) }
        maximumCount = try arguments.number(of: option, in: 1...100_000)
        return true
    }

    mutating func finish(_ words: [String]) throws {
        try Self.rejectWords(words)
        if !pictures.isComplete { throw UsageError("formats needs --pictures") }
    }

    func run() async throws -> ExitStatus {
        let directory = try pictures.directory("formats", of: Self.name)
        let files = try ThumbnailFiles(directory)
        let registry = CodecRegistry.inProcess
        let rows = FormatThumbnails.Row.all.filter { row in
            registry.entries.contains { $0.format == row.format } && pictures.includes(row.name)
        }
        let measured = rows.map { (row: $0, paths: Array(files.paths(of: $0.format).prefix(maximumCount))) }
            .filter { !$0.paths.isEmpty }
        guard !measured.isEmpty else {
            throw BenchError(description: "no image in \(directory.path) that this build can measure")
        }
        FormatThumbnails.printHeader()
        for (row, paths) in measured {
            try await FormatThumbnails(row: row, paths: paths, python: pictures.python, rounds: pictures.rounds).run()
        }
        return .success
    }
}
