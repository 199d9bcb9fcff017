import AlcedoProgramSupport
import Foundation

/// `alcedo-bench server`
struct ServerBenchCommand: ProgramCommand {
    static let name = "server"
    static let help = """
        usage: alcedo-bench server --pictures DIR [options]

        Measures thumbnail-server, alternately with Thumbor in two processes: JPEG thumbnails of at most 320 x 320
        pixels of all files in DIR/web, which nginx serves, without caches. A C loop requests them on 16 connections.
        Thumbor writes them with quality 80. thumbnail-server writes them with the same quality, and with a lower one
        for a PSNR that is close to Thumbor's. Prints medians of the rounds, the peak of resident memory of all
        processes of a server, and the mean PSNR of 100 thumbnails against the whole image reduced by Pillow's Lanczos
        filter. The program thumbnail-server must be in the directory of this program. Tests/Benchmarks/bench-pictures
        creates the images, Tests/Benchmarks/bench-peers installs the interpreter, and both print their paths.

          --pictures DIR  read images from DIR, which has the directory web
          --python PATH   use Thumbor if it is in the directory of the Python interpreter PATH, and compare the
                          thumbnails of both with that interpreter (default: none; Alcedo only)
          --rounds N      measure N rounds (default: 5)

        """

    private var pictures = PictureOptions()

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        // The benchmark has no parts to choose.
        try option != "--only" && pictures.take(option, from: &arguments)
    }

    mutating func finish(_ words: [String]) throws {
        try Self.rejectWords(words)
        if !pictures.isComplete { throw UsageError("server needs --pictures") }
    }

    func run() async throws -> ExitStatus {
        let files = try ThumbnailFiles(pictures.directory("web", of: Self.name))
        let thumbor = pictures.python.flatMap { Self.thumbor(beside: $0) }
        try await ThumbnailServerBenchmark(
            files: files, thumbor: thumbor, python: thumbor == nil ? nil : pictures.python,
            rounds: pictures.rounds
        ).run()
        return .success
    }

    /// Returns the path of Thumbor in the directory of an interpreter, or nil if it is not there.
    static func thumbor(beside python: String) -> String? {
        let path = URL(filePath: python).deletingLastPathComponent().appending(path: "thumbor").path
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }
}
