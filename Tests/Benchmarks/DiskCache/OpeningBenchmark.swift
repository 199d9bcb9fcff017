import AlcedoCore
import AlcedoDiskCache
import AlcedoProgramSupport
import AlcedoRuntime
import Foundation

/// Measures the first use of a directory that has many entries, and a trim of a tenth of them.
struct OpeningBenchmark {
    let directory: URL
    let count: Int

    func run() async throws {
        let location = directory.appending(path: "opening")
        defer { try? FileManager.default.removeItem(at: location) }
        let limits = DataCacheLimits(sizeLimit: .max)
        let writer = FileDiskCache(directory: location, limits: limits)
        let data = Data(repeating: 7, count: 100)
        let storing = try await BenchTable.microseconds(count, concurrency: 4) { number in
            try await writer.store(data, for: Self.key(number))
        }
        await writer.flush()

        var times: [Double] = []
        var cache = writer
        for _ in 0..<3 {
            cache = FileDiskCache(directory: location, limits: limits)
            let time = try await ContinuousClock().measure {
                guard await cache.data(for: Self.key(count / 2)) == data else { throw CocoaError(.fileReadCorruptFile) }
            }
            times.append(BenchTable.microseconds(time) / 1000)
        }
        let walk = BenchTable.microseconds(ContinuousClock().measure { walkDirectory(location) }) / 1000
        let opening = times.min() ?? 0
        let list = ContinuousClock()
        let start = list.now
        let size = await cache.totalSize
        let sizing = BenchTable.microseconds(list.now - start) / 1000
        let trim = await trimTenth(cache, size)
        Console.output(
            """
            \(count) entries (\(BenchTable.rounded(storing)) us each to store, four concurrently)
              first get after opening   \(BenchTable.rounded(opening)) ms
              list and stat of all      \(BenchTable.rounded(walk)) ms (\(BenchTable.rounded(walk / opening)) x)
              total size                \(BenchTable.rounded(sizing)) ms
              trim of a tenth           \(BenchTable.rounded(trim.milliseconds)) ms, \(trim.count) entries, \
            \(BenchTable.rounded(trim.milliseconds * 1000 / Double(max(1, trim.count)))) us each


            """)
    }

    private func trimTenth(_ cache: FileDiskCache, _ size: Int) async -> (milliseconds: Double, count: Int) {
        let clock = ContinuousClock()
        let start = clock.now
        let report = await cache.trim(toSize: size / 10 * 9)
        return (BenchTable.microseconds(clock.now - start) / 1000, report.removals.count)
    }

    private static func key(_ number: Int) -> ImageKey {
        ImageKey(ResourceKey("https://images.example.org/album/\(number)/large.jpg"))
    }

    /// Walks the directory, as a cache without an index must to determine its size and the entries to remove.
    private func walkDirectory(_ location: URL) {
        guard let directory = opendir(location.path) else { return }
        defer { closedir(directory) }
        var size = 0
        while let entry = readdir(directory) {
            let name = Self.name(entry)
            guard !name.hasPrefix("."), let files = opendir("\(location.path)/\(name)") else { continue }
            defer { closedir(files) }
            while let file = readdir(files) {
                var status = stat()
                if fstatat(dirfd(files), Self.name(file), &status, AT_SYMLINK_NOFOLLOW) == 0 {
                    size += Int(status.st_size)
                }
            }
        }
        precondition(size > 0)
    }

    private static func name(_ entry: UnsafeMutablePointer<dirent>) -> String {
        let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
        return String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
    }
}
