import Alcedo
import AlcedoProgramSupport
import AlcedoTesting
import Foundation

/// `alcedo-bench pipeline`
struct PipelineBenchCommand: ProgramCommand {
    static let name = "pipeline"
    static let help = """
        usage: alcedo-bench pipeline [--directory DIR] [--requests N] [--images N] [--rounds N]
                                     [--disk-delay N]

        Measures the default pipeline: the time to find an image in memory; the time of a load whose transport responds
        at once, without caches, relative to the decode alone; the downloads and decodes of many concurrent requests for
        one URL; and the resident memory while many different images of 256 x 256 pixels are loaded from a server in
        another process. The caches may keep 80 MiB of it.

          --directory DIR  put the disk cache in DIR, which is created if needed; its files are removed (default: the
                           temporary directory)
          --requests N     send N requests for one URL (default: 10000)
          --images N       load N different images (default: 10000)
          --disk-delay N   delay each write to disk by N milliseconds, to simulate a slow disk (default: 0)
          --rounds N       measure N rounds of hits and loads; the best counts (default: 7)

        """

    private var directory = FileManager.default.temporaryDirectory
    private var requests = 10_000
    private var images = 10_000
    private var rounds = 7
    private var diskDelay = Duration.zero
    private var isServer = false

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--directory": directory = URL(filePath: try arguments.value(of: option))
        case "--requests": requests = try arguments.number(of: option, in: 1...1_000_000)
        case "--images": images = try arguments.number(of: option, in: 1...10_000_000)
        case "--rounds": rounds = try arguments.number(of: option, in: 1...1_000)
        case "--disk-delay": diskDelay = .milliseconds(try arguments.number(of: option, in: 0...60_000))
        // The option of the server's process.
        case "--serve": isServer = true
        default: return false
        }
        return true
    }

    func run() async throws -> ExitStatus {
        if isServer {
            try ManyImagesBenchmark.serve()
            return .success
        }
        let scratch = try BenchDirectory(in: directory)
        defer { scratch.remove() }
        let location = scratch.url
        // Memory is measured first, because memory that other benchmarks free would be reused without growth.
        try await ManyImagesBenchmark(directory: location, count: images, diskDelay: diskDelay).run()
        try await OneImageBenchmark(count: requests).run()
        try await PipelineHitBenchmark(rounds: rounds).run()
        try await PipelineOverheadBenchmark(rounds: rounds).run()
        return .success
    }
}

/// Passes on each request that the memory cache cannot serve.
private struct MissObserver: PipelineObserving {
    let misses: AsyncStream<Void>.Continuation

    func pipelineDidReport(_ event: PipelineEvent) {
        if case .memoryMiss = event.stage { misses.yield() }
    }
}

/// Sends many concurrent requests for one URL, and counts the downloads and decodes.
private struct OneImageBenchmark {
    let count: Int

    func run() async throws {
        var reply = OriginReply.ok(
            try PNGEncoder().encode(.coordinates(PixelSize(width: 256, height: 256))), type: "image/png")
        // The response stalls until all requests wait.
        reply.stalls = [.beforeHead]
        let origin = try LoopbackOrigin(replies: ["/image.png": reply])
        defer { origin.stop() }
        let metrics = PipelineMetrics()
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        let (misses, continuation) = AsyncStream.makeStream(of: Void.self)
        configuration.observers = [metrics, MissObserver(misses: continuation)]
        let pipeline = ImagePipeline(configuration)
        let request = ImageRequest(url: origin.url(for: "/image.png"))
        let duration = try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { _ = try await pipeline.load(request) } }
            for await _ in misses.prefix(count) {}
            try await origin.waitForStalls()
            let start = ContinuousClock.now
            origin.release()
            try await group.waitForAll()
            return ContinuousClock.now - start
        }
        let seen = metrics.snapshot
        Console.output(BenchTable.row(["one URL, concurrent", "downloads", "decodes", "ms until all finished"]))
        Console.output(
            BenchTable.row([
                "\(count) requests", "\(origin.requests.count)", "\(seen.decodes.count)",
                "\(BenchTable.rounded(duration / .milliseconds(1)))",
            ]))
        await pipeline.shutDown()
    }
}
