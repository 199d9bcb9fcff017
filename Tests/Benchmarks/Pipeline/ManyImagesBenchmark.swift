import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
import AlcedoTesting
import Foundation

/// Loads many different images and measures the resident memory.
struct ManyImagesBenchmark {
    private static let memoryLimit = 64 << 20
    private static let responseLimit = 16 << 20
    /// The goal for resident memory, in MiB.
    private static let goal = 120
    private static let side = 256

    let directory: URL
    let count: Int
    /// The delay of each write to disk.
    let diskDelay: Duration

    func run() async throws {
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        // The server has its own process, so that its memory is not measured.
        let server = try BenchProcess(program, ["pipeline", "--serve"])
        let base = try server.readLine()
        var configuration = ImagePipeline.Configuration.standard(
            cacheDirectory: directory, memoryLimit: Self.memoryLimit, diskLimit: 64 << 20,
            responseLimit: Self.responseLimit)
        if let disk = configuration.diskCache, diskDelay > .zero {
            configuration.diskCache = SlowDataCache(cache: disk, delay: diskDelay)
        }
        let pipeline = ImagePipeline(configuration)
        Console.output(BenchTable.row(["different images", "resident MiB", "goal", "images/s"]))
        let goal = "\(Self.goal) at most"
        var done = 0
        while done < count {
            // A row is printed after each eighth, so that a growth of memory is visible.
            let part = done..<min(count, done + max(1, (count + 7) / 8))
            let requests = part.compactMap { number in
                URL(string: "\(base)/\(number).jpg").map { ImageRequest(url: $0) }
            }
            let start = ContinuousClock.now
            try await pipeline.loadAll(requests, maxConcurrentLoads: 16) { _, result in _ = try result.get() }
            let rate = Double(part.count) / ((ContinuousClock.now - start) / .seconds(1))
            done = part.upperBound
            Console.output(
                BenchTable.row(["\(done)", "\(ResidentMemory.byteCount >> 20)", goal, "\(Int(rate))"]))
        }
        let peak = Double(ResidentMemory.peakByteCount) / Double(1 << 20)
        let limit = BenchFigure.Goal.atMost(Double(Self.goal))
        BenchFigure("peak resident memory of many images", peak, unit: " MiB", limit).record()
        Console.output(BenchTable.row(["peak", "\(ResidentMemory.peakByteCount >> 20)", goal]))
        await pipeline.shutDown()
    }

    /// Serves images until standard input ends. Runs in the other process.
    static func serve() throws {
        let body = try JPEGEncoder().encode(.coordinates(PixelSize(width: side, height: side)))
        var options = OriginOptions()
        options.logLimit = 0
        let origin = try LoopbackOrigin(options: options) { _ in
            OriginReply(fields: ["Content-Type": "image/jpeg", "Cache-Control": "max-age=3600"], body: body)
        }
        defer { origin.stop() }
        print(origin.url.absoluteString)
        fflush(nil)
        while Swift.readLine() != nil {}
    }
}

/// A disk cache that delays each write.
private struct SlowDataCache: DataCaching {
    let cache: any DataCaching
    let delay: Duration

    func store(_ entry: CachedData, for key: ImageKey) async throws {
        try await Task.sleep(for: delay)
        try await cache.store(entry, for: key)
    }

    func entry(for key: ImageKey) async -> CachedData? { await cache.entry(for: key) }
    func contains(_ key: ImageKey) async -> Bool { await cache.contains(key) }
    func remove(_ key: ImageKey) async -> Bool { await cache.remove(key) }
    func removeAll(of resource: ResourceKey) async -> Int { await cache.removeAll(of: resource) }
    func removeAll() async { await cache.removeAll() }
    func flush() async { await cache.flush() }
}
