import AlcedoCore
import AlcedoDiskCache
import AlcedoProgramSupport
import AlcedoRuntime
import AlcedoSQLiteCache
import Foundation

/// Times puts and gets of entries of one size.
struct TransferBenchmark {
    private static let sizes = [4 << 10, 64 << 10, 1 << 20]
    private static let width = 8

    let directory: URL
    let rounds: Int

    func run() async throws {
        Console.output("microseconds an operation (over the bare calls), one after another\n")
        Console.output(
            BenchTable.row([
                "", "bare", "FileDiskCache", "bare, awaited", "FileDiskCache, awaited", "SQLiteDiskCache, awaited",
            ]))
        for size in Self.sizes { try await measure(size, width: 1) }
        Console.output("\nthe same, \(Self.width) at once\n")
        for size in Self.sizes { try await measure(size, width: Self.width) }
        Console.output("\n")
    }

    private static func put(_ cache: FileDiskCache, _ key: ImageKey, _ data: Data) throws {
        try cache.storeBlocking(CachedData(data), for: key)
    }

    private static func get(_ cache: FileDiskCache, _ key: ImageKey, _ size: Int) {
        precondition(cache.entryBlocking(for: key)?.data.count == size)
    }

    private func measure(_ size: Int, width: Int) async throws {
        let count = max(64, min(2_000, (64 << 20) / size))
        let location = directory.appending(path: "transfer")
        defer { try? FileManager.default.removeItem(at: location) }
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let data = Data(bytes)
        let keys = (0..<count).map { ImageKey(ResourceKey("https://images.example.org/album/\($0)/large.jpg")) }
        let bare = try BareFiles(directory: location.appending(path: "bare"), count: count)
        let thread = BlockingExecutor(name: "alcedo.bench", maxConcurrent: 1)
        let pool = BlockingExecutor(name: "alcedo.bench", maxConcurrent: 2)
        let limits = DataCacheLimits(maximumSize: .max)
        let files = FileDiskCache(directory: location.appending(path: "files"), limits: limits)
        let database = SQLiteDiskCache(directory: location.appending(path: "database"), sizeLimit: .max)

        typealias Operation = @Sendable (Int) async throws -> Void
        let puts: [Operation] = [
            { bare.put($0, bytes) }, { try Self.put(files, keys[$0], data) },
            { number in try await thread.run { bare.put(number, bytes) } },
            { try await files.store(data, for: keys[$0]) }, { try await database.store(data, for: keys[$0]) },
        ]
        let gets: [Operation] = [
            { bare.get($0, size) }, { Self.get(files, keys[$0], size) },
            { number in try await pool.run { bare.get(number, size) } },
            { number in
                let found = await files.data(for: keys[number]); precondition(found?.count == size)
            },
            { number in
                let found = await database.data(for: keys[number]); precondition(found?.count == size)
            },
        ]
        for (name, operations) in [("put", puts), ("get", gets)] {
            var best = Array(repeating: Double.infinity, count: operations.count)
            for _ in 0..<rounds {
                for (index, operation) in operations.enumerated() {
                    // What blocks has one thread of its own in any case.
                    let width = index < 2 ? 1 : width
                    best[index] = min(best[index], try await BenchTable.microseconds(count, width: width, operation))
                }
            }
            if width == 1 {
                // By a thread of one's own, as the bare calls are made.
                BenchFigure(
                    "disk cache, \(name) of \(size >> 10) KB, over bare calls", best[1] / best[0],
                    .atMost(name == "get" ? 1.5 : 2)
                ).record()
            }
            let cells = best.enumerated().map { index, time in
                let ratio = index == 0 ? "" : " (\(BenchTable.rounded(time / best[0])))"
                return "\(BenchTable.rounded(time))\(ratio)"
            }
            Console.output(BenchTable.row(["\(name) \(size >> 10) KB"] + cells))
        }
    }
}

/// The system calls that a put and a get need at least, on files in 256 folders, by paths that are ready.
private struct BareFiles: Sendable {
    private let paths: [[CChar]]
    private let temporary: [[CChar]]

    /// Makes the folders.
    init(directory: URL, count: Int) throws {
        paths = (0..<count).map { number in
            let name = String(number &* 2_654_435_761 & 0xFFFF_FFFF, radix: 16)
            return Array("\(directory.path)/\(number % 256)/\(name)-\(String(repeating: "0", count: 50))".utf8CString)
        }
        temporary = (0..<count).map { Array("\(directory.path)/unfinished/\($0)".utf8CString) }
        for folder in (0..<256).map(String.init) + ["unfinished"] {
            try FileManager.default.createDirectory(
                at: directory.appending(path: folder), withIntermediateDirectories: true)
        }
    }

    func put(_ number: Int, _ bytes: [UInt8]) {
        let file = open(temporary[number], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let written = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        close(file)
        precondition(written == bytes.count && rename(temporary[number], paths[number]) == 0)
    }

    func get(_ number: Int, _ count: Int) {
        let file = open(paths[number], O_RDONLY | O_CLOEXEC)
        let memory = malloc(count)
        let read = pread(file, memory, count, 0)
        close(file)
        free(memory)
        precondition(read == count)
    }
}
