import Alcedo
import AlcedoProgramSupport
import Foundation

/// `alcedo-bench thumbnail`
struct ThumbnailBenchCommand: ProgramCommand {
    static let name = "thumbnail"
    static let help = """
        usage: alcedo-bench thumbnail --pictures DIR [options]

        Thumbnails of at most 320 x 320 pixels, in memory, in turns in one run by the pipeline and by Python's Pillow and
        libvips: of the files in DIR/wallpapers and DIR/web on one thread, format by format, then by the pipeline on
        two; then of everything in DIR/web from nginx, cold, beside aiohttp with libvips, and once more from disk and from
        memory. Prints medians of the rounds; ratios are those of one round each. Scripts/bench-pictures makes the
        pictures, Scripts/bench-peers the interpreter; both print where they are.

          --pictures DIR  a folder with the folders wallpapers and web
          --python PATH   an interpreter with Pillow, pyvips and aiohttp (default: none; ours alone)
          --rounds N      turns of each (default: 5)
          --only TEXT     only tables whose name has TEXT in it: wallpapers, web, server
          --most N        at most so many files of each format from disk (default: 100)

        """

    private var imageDirectory: String?
    private var python: String?
    private var rounds = 5
    private var filter = ""
    private var maximumCount = 100
    /// What the process that loads is told: where the images are served, and where its disk cache is.
    private var loading: (base: String, cache: String)?
    private var (base, cache): (String?, String?)

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--pictures": imageDirectory = try arguments.value(of: option)
        case "--python": python = try arguments.value(of: option)
        case "--rounds": rounds = try arguments.number(of: option, in: 1...1_000)
        case "--only": filter = try arguments.value(of: option)
        case "--most": maximumCount = try arguments.number(of: option, in: 1...100_000)
        // Of the process that loads.
        case "--load": base = try arguments.value(of: option)
        case "--cache": cache = try arguments.value(of: option)
        default: return false
        }
        return true
    }

    mutating func finish(_ words: [String]) throws {
        try Self.rejectWords(words)
        if let base, let cache { loading = (base, cache) }
        if imageDirectory == nil, loading == nil { throw UsageError("thumbnail needs --pictures") }
    }

    func run() async throws -> ExitStatus {
        if let loading {
            try await ServedThumbnailLoad(base: loading.base, cacheDirectory: URL(filePath: loading.cache)).run()
            return .success
        }
        guard let imageDirectory else { return .usage }
        let folder = URL(filePath: imageDirectory)
        for (name, goal) in ThumbnailSpeed.tables where filter.isEmpty || name.contains(filter) {
            let files = try ThumbnailFiles(folder.appending(path: name))
            try await ThumbnailSpeed(
                files: files, goal: goal, python: python, rounds: rounds, maximumCount: maximumCount
            ).run(name)
        }
        if filter.isEmpty || "server".contains(filter) {
            let files = try ThumbnailFiles(folder.appending(path: "web"))
            try await ServedThumbnails(files: files, python: python, rounds: rounds).run()
        }
        return .success
    }
}
