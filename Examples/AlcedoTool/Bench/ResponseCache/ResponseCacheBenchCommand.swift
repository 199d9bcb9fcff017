import Alcedo
import ExampleSupport
import Foundation

/// `alcedo bench response-cache`
struct ResponseCacheBenchCommand: ToolCommand {
    static let name = "bench response-cache"
    static let help = """
        usage: alcedo bench response-cache [--directory DIR] [--urls N] [--rounds N]

        Fresh hits: from memory, asked for by one task; from disk, beside the disk cache's own get of the same entry; from
        memory with many URLs of ten variants each, beside few. Each answer has 16 fields.

          --directory DIR  where to work; made where there is none; files in it are removed (default: the temporary directory)
          --urls N         how many URLs have ten variants (default: 100000)
          --rounds N       how often each is measured; the best counts (default: 5)

        """

    private var directory = FileManager.default.temporaryDirectory
    private var urlCount = 100_000
    private var rounds = 5

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--directory": directory = URL(filePath: try arguments.value(of: option))
        case "--urls": urlCount = try arguments.number(of: option, in: 1_000...10_000_000)
        case "--rounds": rounds = try arguments.number(of: option, in: 1...1_000)
        default: return false
        }
        return true
    }

    func run() async throws -> ExitStatus {
        let folder = try BenchFolder(in: directory)
        defer { folder.remove() }
        let place = folder.url
        try await ResponseHitBenchmark(directory: place, urlCount: urlCount, rounds: rounds).run()
        return .success
    }
}
