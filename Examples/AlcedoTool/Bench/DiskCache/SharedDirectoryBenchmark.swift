import AlcedoCore
import AlcedoDiskCache
import ExampleSupport
import Foundation

/// Times puts and gets in one process, and in two on the same directory.
struct SharedDirectoryBenchmark {
    private static let count = 4_000

    let directory: URL

    func run() async throws {
        let place = directory.appending(path: "shared")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let alone = try await Self.start(1, place)
        let together = try await Self.start(2, place)
        Console.output(
            """
            puts and gets of 4 KB by turns, an operation
              one process               \(alone.map { "\(BenchTable.rounded($0)) us" }.joined(separator: ", "))
              two on one directory      \(together.map { "\(BenchTable.rounded($0)) us" }.joined(separator: ", "))

            """)
    }

    /// Returns microseconds an operation.
    func work(as number: Int) async throws -> Double {
        let cache = FileDiskCache(directory: directory, limits: DataCacheLimits(size: 64 << 20))
        let data = Data(repeating: UInt8(number), count: 4 << 10)
        return try await BenchTable.microseconds(Self.count, width: 1) { step in
            try await cache.store(data, for: ImageKey(ResourceKey("\(number) \(step)")))
            _ = await cache.data(for: ImageKey(ResourceKey("\(1 - number) \(step)")))
        } / 2
    }

    private static func start(_ processes: Int, _ place: URL) async throws -> [Double] {
        let started = try (0..<processes).map { number in
            let process = Process()
            process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = ["bench", "disk-cache", "--worker", "\(number)", "--directory", place.path]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            return (process, output)
        }
        return started.map { process, output in
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? .nan
        }
    }
}
