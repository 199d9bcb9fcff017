import Alcedo
import AlcedoProgramSupport
import AlcedoTesting
import Foundation

/// Measures hits of the memory cache through a pipeline.
struct PipelineHitBenchmark {
    private static let imageCount = 100

    let rounds: Int

    func run() async throws {
        let pipeline = HitStack.makePipeline()
        let data = try PNGEncoder().encode(.coordinates(PixelSize(width: 64, height: 64)))
        let requests = (0..<Self.imageCount).map {
            ImageRequest(
                source: .bytes(data, identity: "\($0)"), processors: [.resize(width: 32)])
        }
        try await pipeline.loadAll(requests) { _, result in _ = try result.get() }

        Console.output(BenchTable.row(["memory hit", "nanoseconds", "goal"]))
        var (found, loaded) = (Double.infinity, Double.infinity)
        for _ in 0..<rounds {
            found = min(found, try Self.lookUp(requests, 200_000, in: pipeline))
            loaded = min(
                loaded,
                try await nanoseconds(50_000) { number in
                    let response = try await pipeline.load(requests[number % requests.count])
                    guard response.layer == .memory else {
                        throw BenchError(description: "an image was not found in memory")
                    }
                })
        }
        BenchFigure("pipeline memory hit", found, unit: " ns", .atMost(80)).record()
        Console.output(BenchTable.row(["cachedImage", "\(Int(found.rounded()))", "at most 80"]))
        Console.output(BenchTable.row(["load", "\(Int(loaded.rounded()))", ""]))
        await pipeline.shutDown()
    }

    /// Returns the nanoseconds of a call of `cachedImage`. The calls are in a plain loop, because they are synchronous.
    /// The requests are used in place, because a copy of a request takes as long as a hit.
    private static func lookUp(_ requests: [ImageRequest], _ count: Int, in pipeline: ImagePipeline) throws -> Double {
        let start = ContinuousClock.now
        for _ in 0..<count / requests.count {
            for index in requests.indices where pipeline.cachedImage(for: requests[index]) == nil {
                throw BenchError(description: "an image was not found in memory")
            }
        }
        return (ContinuousClock.now - start) / .nanoseconds(count)
    }

    private func nanoseconds(
        _ count: Int, _ work: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Double {
        try await BenchTable.microseconds(count, concurrency: 1, work) * 1_000
    }
}

/// The default stack for measurements of hits in memory. Its memory cache ignores memory pressure.
enum HitStack {
    static func makePipeline() -> ImagePipeline {
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.memoryCache = ImageMemoryCache(limits: MemoryCacheLimits(), findsReferencedValues: true)
        return ImagePipeline(configuration)
    }
}
