import Alcedo
import AlcedoProgramSupport
import Foundation

/// `alcedo-bench encode`
struct EncodeBenchCommand: ProgramCommand {
    static let name = "encode"
    static let help = """
        usage: alcedo-bench encode DIR [options]

        Encodes the images of DIR, which are in memory as RGB or RGBA, as JPEG, PNG and WebP, and as AVIF in a build
        with --traits AVIF. With --python, alternates with Pillow and libvips, which get the same pixels and encode with
        the same settings on one thread. Prints the milliseconds and the bytes of each image in the mean, and the ratios
        to the faster library. Times are the best of the rounds. Gray and 16-bit images are skipped, and images with
        alpha are encoded only as PNG and WebP.

          --python PATH  use the Python interpreter PATH, which has Pillow and pyvips (default: none; Alcedo only)
          --rounds N     encode each image N times with each encoder (default: 5)
          --most N       encode at most N images, spread evenly over the sorted names (default: 20)

        """

    private var directory = ""
    private var python: String?
    private var rounds = 5
    private var maximumCount = 20

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--python": python = try arguments.value(of: option)
        case "--rounds": rounds = try arguments.number(of: option, in: 1...10_000)
        case "--most": maximumCount = try arguments.number(of: option, in: 1...100_000)
        default: return false
        }
        return true
    }

    mutating func finish(_ words: [String]) throws {
        guard words.count == 1 else { throw UsageError("encode needs one directory") }
        directory = words[0]
    }

    func run() async throws -> ExitStatus {
        let names = try BenchDirectory.names(in: directory)
        let scratch = try BenchDirectory(in: FileManager.default.temporaryDirectory)
        defer { scratch.remove() }
        let peers = try python.map { python in
            try PythonEncoder.Library.allCases.map { try PythonEncoder($0, python: python) }
        }
        var benchmark = EncodeBenchmark(rounds: rounds, peers: peers ?? [], directory: scratch.url)
        let step = max(1, Double(names.count) / Double(maximumCount))
        for index in 0..<min(names.count, maximumCount) {
            let name = names[Int(Double(index) * step)]
            guard let data = try? Data(contentsOf: URL(filePath: "\(directory)/\(name)")),
                let image = try? CodecRegistry.programs.decode(data)
            else { continue }
            try benchmark.measure(image.pixels)
        }
        guard benchmark.hasResults else {
            Console.problem("alcedo-bench: no image in \(directory) can be measured")
            return .failure
        }
        benchmark.report()
        return .success
    }
}
