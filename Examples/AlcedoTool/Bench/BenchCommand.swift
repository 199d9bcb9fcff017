import Alcedo
import ExampleSupport
import FoundationEssentials

/// `alcedo bench`
struct BenchCommand: ToolCommand {
    static let name = "bench"
    static let help = """
        usage: alcedo bench decode DIR [--rounds N]
               alcedo bench memory FILE [--size N]
               alcedo bench memory-cache [options]
               alcedo bench disk-cache [options]
               alcedo bench response-cache [options]
               alcedo bench download [options]
               alcedo bench pipeline [options]
               alcedo bench binding [options]
               alcedo bench resize [options]
               alcedo bench thumbnail [options]
               alcedo bench all [options]

        decode: decodes every image of DIR at full size, animations to their last frame, by our decoders and by a plain
        C loop over the same library in the same process, in turns, and prints our best time over the C loop's best.

        memory: decodes one image, plays it if it moves, and prints by how much resident memory rose.

          --rounds N   turns an image, each of both (default: 15)
          --size N     decode for at most N pixels in width and height (default: full size)

        """

    private enum Action {
        case decode(directory: String)
        case memory(file: String)
    }

    /// Is always set by ``finish(_:)``.
    private var action = Action.decode(directory: "")
    private var rounds = 15
    private var longestSide: Int?

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--rounds": rounds = try arguments.number(of: option, in: 1...10_000)
        case "--size": longestSide = try arguments.number(of: option, in: 1...65_535)
        default: return false
        }
        return true
    }

    mutating func finish(_ words: [String]) throws {
        switch (words.first, words.count) {
        case ("decode", 2): action = .decode(directory: words[1])
        case ("decode", _): throw UsageError("bench decode needs one directory")
        case ("memory", 2): action = .memory(file: words[1])
        case ("memory", _): throw UsageError("bench memory needs one file")
        default:
            throw UsageError(
                "bench can do this: decode DIR, memory FILE, memory-cache, disk-cache, response-cache, download, pipeline, binding, resize, thumbnail, all"
            )
        }
    }

    func run() async throws -> ExitStatus {
        switch action {
        case .decode(let directory):
            return decode(directory)
        case .memory(let file):
            let configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
            let data = try await configuration.downloader.download(DownloadRequest(.file(file)), progress: nil).data
            let target = longestSide.map { TargetSize(PixelSize(width: $0, height: $0)) }
            Console.output(try MemoryBenchmark(codecs: configuration.codecs, target: target).measure(data))
            return .success
        }
    }

    private func decode(_ directory: String) -> ExitStatus {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        } catch {
            Console.problem("alcedo: cannot list \(directory)")
            return .failure
        }
        var benchmark = DecodeBenchmark(rounds: rounds)
        for name in names {
            guard let data = try? Data(contentsOf: URL(filePath: "\(directory)/\(name)")) else { continue }
            benchmark.measure(data, name: name)
        }
        guard benchmark.hasResults else {
            Console.problem("alcedo: no image in \(directory) that both can decode")
            return .failure
        }
        Console.output(benchmark.summary)
        return .success
    }
}
