import Alcedo
import AlcedoCore
import AlcedoDiskCache
import AlcedoProgramSupport
import Foundation

/// `alcedo-bench disk-cache`
struct DiskCacheBenchCommand: ProgramCommand {
    static let name = "disk-cache"
    static let help = """
        usage: alcedo-bench disk-cache [--directory DIR] [--entries N] [--rounds N]

        Measures puts and gets of 4 KB, 64 KB and 1 MB against plain system calls (open, write, close, rename; open,
        pread, close) in the same directories, sequentially and eight concurrently; then, for each number of entries,
        opening against a walk that lists and stats the directory, and a trim of a tenth; then two processes on one
        directory. Prints microseconds, and ratios to the system calls of the same run.

          --directory DIR  work in DIR, which is created if needed; its files are removed (default: the temporary
                           directory)
          --entries N      open and trim only N entries (default: 1000 and 100000)
          --rounds N       measure N rounds; the best counts (default: 5); 0 measures no puts and gets

        """

    private var directory = FileManager.default.temporaryDirectory
    private var counts = [1_000, 100_000]
    private var rounds = 5
    private var worker: Int?

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--directory": directory = URL(filePath: try arguments.value(of: option))
        case "--entries": counts = [try arguments.number(of: option, in: 1...10_000_000)]
        case "--rounds": rounds = try arguments.number(of: option, in: 0...1_000)
        // The option of the child processes.
        case "--worker": worker = try arguments.number(of: option, in: 0...9)
        default: return false
        }
        return true
    }

    func run() async throws -> ExitStatus {
        if let worker {
            Console.output("\(try await SharedDirectoryBenchmark(directory: directory).work(as: worker))\n")
            return .success
        }
        let scratch = try BenchDirectory(in: directory)
        defer { scratch.remove() }
        let location = scratch.url
        if rounds > 0 { try await TransferBenchmark(directory: location, rounds: rounds).run() }
        for count in counts { try await OpeningBenchmark(directory: location, count: count).run() }
        try await SharedDirectoryBenchmark(directory: location).run()
        return .success
    }
}

/// Measures puts and gets in one process, and in two processes on the same directory.
private struct SharedDirectoryBenchmark {
    private static let count = 4_000

    let directory: URL

    func run() async throws {
        let location = directory.appending(path: "shared")
        try FileManager.default.createDirectory(at: location, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: location) }
        let alone = try await Self.start(1, location)
        let together = try await Self.start(2, location)
        Console.output(
            """
            alternating puts and gets of 4 KB, per operation
              one process               \(alone.map { "\(BenchTable.rounded($0)) us" }.joined(separator: ", "))
              two on one directory      \(together.map { "\(BenchTable.rounded($0)) us" }.joined(separator: ", "))

            """)
    }

    /// Returns the microseconds per operation.
    func work(as number: Int) async throws -> Double {
        let cache = FileDiskCache(directory: directory, limits: DataCacheLimits(sizeLimit: 64 << 20))
        let data = Data(repeating: UInt8(number), count: 4 << 10)
        return try await BenchTable.microseconds(Self.count, concurrency: 1) { step in
            try await cache.store(data, for: ImageKey(ResourceKey("\(number) \(step)")))
            _ = await cache.data(for: ImageKey(ResourceKey("\(1 - number) \(step)")))
        } / 2
    }

    private static func start(_ processes: Int, _ location: URL) async throws -> [Double] {
        let started = try (0..<processes).map { number in
            let process = Process()
            process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = ["disk-cache", "--worker", "\(number)", "--directory", location.path]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            BenchCleanup.begin(process.processIdentifier)
            return (process, output)
        }
        let times = started.map { process, output in
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? .nan
        }
        BenchCleanup.end(started.map(\.0.processIdentifier))
        return times
    }
}
