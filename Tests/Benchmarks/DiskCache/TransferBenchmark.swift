import AlcedoCore
import AlcedoDiskCache
import AlcedoProgramSupport
import AlcedoRuntime
import AlcedoSQLiteCache
import Foundation

/// Measures puts and gets of entries, for each of three sizes.
struct TransferBenchmark {
    private static let sizes = [4 << 10, 64 << 10, 1 << 20]
    private static let concurrency = 8

    let directory: URL
    let rounds: Int

    func run() async throws {
        Console.output("microseconds per operation (relative to the system calls), sequential\n")
        Console.output(
            BenchTable.row([
                "", "system calls", "FileDiskCache", "system calls, async", "FileDiskCache, async",
                "SQLiteDiskCache, async",
            ]))
        for size in Self.sizes { try await measure(size, concurrency: 1) }
        Console.output("\nmicroseconds per operation (relative to the system calls), \(Self.concurrency) concurrent\n")
        for size in Self.sizes { try await measure(size, concurrency: Self.concurrency) }
        Console.output("\n")
    }

    /// Records the ratios of the times of a put or get to the system calls that have goals.
    private func record(_ times: [Double], _ title: String, isGet: Bool, _ size: Int, _ concurrency: Int) {
        if concurrency == 1 {
            // The blocking calls are compared, because the system calls block.
            let goal = !isGet ? 2 : size < 1 << 20 ? 1.3 : 1.2
            BenchFigure("\(title): time relative to system calls", times[1] / times[0], .atMost(goal)).record()
            if isGet {
                BenchFigure(
                    "\(title), awaited: time relative to awaited system calls", times[3] / times[2], .atMost(1.1)
                ).record()
            }
        } else if !isGet, size == 64 << 10 {
            BenchFigure(
                "\(title), \(concurrency) at once: time relative to system calls", times[3] / times[0], .atMost(2)
            ).record()
        }
    }

    private static func put(_ cache: FileDiskCache, _ key: ImageKey, _ data: Data) throws {
        try cache.storeBlocking(CachedData(data), for: key)
    }

    private static func get(_ cache: FileDiskCache, _ key: ImageKey, _ size: Int) {
        precondition(cache.entryBlocking(for: key)?.data.count == size)
    }

    private func measure(_ size: Int, concurrency: Int) async throws {
        let count = max(64, min(2_000, (64 << 20) / size))
        let location = directory.appending(path: "transfer")
        defer { try? FileManager.default.removeItem(at: location) }
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let data = Data(bytes)
        let keys = (0..<count).map { ImageKey(ResourceKey("https://images.example.org/album/\($0)/large.jpg")) }
        let systemCalls = try SystemCallFiles(directory: location.appending(path: "system-calls"), count: count)
        let thread = BlockingExecutor(name: "alcedo.bench", maxConcurrent: 1)
        let pool = BlockingExecutor(name: "alcedo.bench", maxConcurrent: 2)
        let limits = DataCacheLimits(sizeLimit: .max)
        let files = FileDiskCache(directory: location.appending(path: "files"), limits: limits)
        let database = SQLiteDiskCache(directory: location.appending(path: "database"), sizeLimit: .max)

        typealias Operation = @Sendable (Int) async throws -> Void
        let puts: [Operation] = [
            { systemCalls.put($0, bytes) }, { try Self.put(files, keys[$0], data) },
            { number in try await thread.run { systemCalls.put(number, bytes) } },
            { try await files.store(data, for: keys[$0]) }, { try await database.store(data, for: keys[$0]) },
        ]
        let gets: [Operation] = [
            { systemCalls.get($0, size) }, { Self.get(files, keys[$0], size) },
            { number in try await pool.run { systemCalls.get(number, size) } },
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
                    // Blocking operations use one thread in both tables.
                    let concurrency = index < 2 ? 1 : concurrency
                    best[index] = min(
                        best[index], try await BenchTable.microseconds(count, concurrency: concurrency, operation))
                }
            }
            record(best, "disk cache, \(name) of \(size >> 10) KB", isGet: name == "get", size, concurrency)
            let cells = best.enumerated().map { index, time in
                let ratio = index == 0 ? "" : " (\(BenchTable.rounded(time / best[0])))"
                return "\(BenchTable.rounded(time))\(ratio)"
            }
            Console.output(BenchTable.row(["\(name) \(size >> 10) KB"] + cells))
        }
    }
}

/// The minimum of system calls for a put and a get, on files in 256 directories, with prepared paths.
private struct SystemCallFiles: Sendable {
    private let paths: [[CChar]]
    private let temporary: [[CChar]]

    /// Creates the directories.
    init(directory: URL, count: Int) throws {
        paths = (0..<count).map { number in
            let name = String(number &* 2_654_435_761 & 0xFFFF_FFFF, radix: 16)
            return Array("\(directory.path)/\(number % 256)/\(name)-\(String(repeating: "0", count: 50))".utf8CString)
        }
        temporary = (0..<count).map { Array("\(directory.path)/unfinished/\($0)".utf8CString) }
        for name in (0..<256).map(String.init) + ["unfinished"] {
            try FileManager.default.createDirectory(
                at: directory.appending(path: name), withIntermediateDirectories: true)
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
