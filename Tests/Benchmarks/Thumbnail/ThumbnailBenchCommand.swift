import Alcedo
import AlcedoProgramSupport
import Foundation

/// `alcedo-bench thumbnail`
struct ThumbnailBenchCommand: ProgramCommand {
    static let name = "thumbnail"
    static let help = """
        usage: alcedo-bench thumbnail --pictures DIR [options]

        Measures thumbnails of at most 320 x 320 pixels, in memory, alternately with the pipeline, Pillow and libvips:
        of the files in DIR/wallpapers and DIR/web on one thread, for each format, then with the pipeline on two
        threads; then of all files in DIR/web from nginx without caches, against aiohttp with libvips, and again from
        disk and from memory. Prints medians of the rounds; each ratio is of one round. Scripts/bench-pictures creates
        the images, Scripts/bench-peers installs the interpreter, and both print their paths.

          --pictures DIR  read images from DIR, which has the directories wallpapers and web
          --python PATH   use the Python interpreter PATH, which has Pillow, pyvips and aiohttp (default: none; Alcedo
                          only)
          --rounds N      measure N rounds (default: 5)
          --only TEXT     run only tables whose name contains TEXT: wallpapers, web, server
          --most N        read at most N files of each format from disk (default: 100)

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
