import Alcedo
import AlcedoTesting
import ExampleSupport
import Foundation

/// Asks for one URL many times at once, and counts what was done for it.
struct OneImageBenchmark {
    let count: Int

    func run() async throws {
        var reply = OriginReply.ok(
            try PNGEncoder().encode(.coordinates(PixelSize(width: 256, height: 256))), type: "image/png")
        // Until everybody waits.
        reply.stalls = [.beforeHead]
        let origin = try LoopbackOrigin(replies: ["/image.png": reply])
        defer { origin.stop() }
        let metrics = PipelineMetrics()
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.observer = metrics
        let pipeline = ImagePipeline(configuration)
        guard let request = ImageRequest(url: origin.url(for: "/image.png")) else {
            throw BenchError(description: "the server has no address")
        }
        let duration = try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { _ = try await pipeline.load(request) } }
            while metrics.snapshot.memoryMisses.values.reduce(0, +) < count {
                try await Task.sleep(for: .milliseconds(1))
            }
            try await origin.waitForStalls()
            let start = ContinuousClock.now
            origin.release()
            try await group.waitForAll()
            return ContinuousClock.now - start
        }
        let seen = metrics.snapshot
        Console.output(BenchTable.row(["one URL at once", "downloads", "decodes", "ms to all of them"]))
        Console.output(
            BenchTable.row([
                "\(count) requests", "\(origin.requests.count)", "\(seen.decodingTimes.count)",
                "\(BenchTable.rounded(duration / .milliseconds(1)))",
            ]))
        await pipeline.shutDown()
    }
}
