import Alcedo
import AlcedoProgramSupport
import Foundation

/// `alcedo-bench thumbnail`
struct ThumbnailBenchCommand: ProgramCommand {
    static let name = "thumbnail"
    static let help = """
        usage: alcedo-bench thumbnail --pictures DIR [options]

        Measures thumbnails of at most 320 x 320 pixels, in memory, alternately with the pipeline, Pillow, libvips, for
        JPEG OpenCV, which reduces in the decoder or decodes at full scale, and a C loop that only reads the file and
        decodes it at the scale that the pipeline uses: of the files in DIR/wallpapers and DIR/web on one thread, for
        each format, then with the pipeline on two threads; then of all files in DIR/web from nginx with empty caches,
        from disk, from memory, and without caches, against aiohttp with libvips. Prints medians of the rounds, and
        ratios of medians. Beside the times are the mean PSNR of each library's thumbnails, or of 200 of the server's,
        against the whole image reduced by Pillow's Lanczos filter. Tests/Benchmarks/bench-pictures creates the images,
        Tests/Benchmarks/bench-peers installs the interpreter, and both print their paths.

          --pictures DIR  read images from DIR, which has the directories wallpapers and web
          --python PATH   use the Python interpreter PATH, which has Pillow, pyvips and aiohttp, and may have OpenCV
                          (default: none; Alcedo only)
          --rounds N      measure N rounds (default: 5)
          --only TEXT     run only tables whose name contains TEXT: wallpapers, web, server
          --most N        read at most N files of each format from disk (default: 100)

        """

    private var pictures = PictureOptions()
    private var maximumCount = 100
    /// The options of the loading process: the base URL of the images, and its disk cache.
    private var (base, cache): (String?, String?)

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--most": maximumCount = try arguments.number(of: option, in: 1...100_000)
        // The options of the loading process.
        case "--load": base = try arguments.value(of: option)
        case "--cache": cache = try arguments.value(of: option)
        default: return try pictures.take(option, from: &arguments)
        }
        return true
    }

    mutating func finish(_ words: [String]) throws {
        try Self.rejectWords(words)
        if !pictures.isComplete, base == nil { throw UsageError("thumbnail needs --pictures") }
    }

    func run() async throws -> ExitStatus {
        if let base {
            let directory = cache.map { URL(filePath: $0) }
            try await ServedThumbnailLoad(base: base, cacheDirectory: directory).run()
            return .success
        }
        for (name, goal) in ThumbnailSpeed.tables where pictures.includes(name) {
            let files = try ThumbnailFiles(pictures.directory(name, of: Self.name))
            try await ThumbnailSpeed(
                files: files, goal: goal, python: pictures.python, rounds: pictures.rounds, maximumCount: maximumCount
            ).run(name)
        }
        if pictures.includes("server") {
            let files = try ThumbnailFiles(pictures.directory("web", of: Self.name))
            try await ServedThumbnails(files: files, python: pictures.python, rounds: pictures.rounds).run()
        }
        return .success
    }
}
