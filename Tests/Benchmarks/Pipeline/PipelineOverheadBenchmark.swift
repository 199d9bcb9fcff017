import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
import AlcedoTesting
import Foundation

/// Measures the time of a load that no cache serves and whose transport responds at once: the work of the pipeline and
/// the downloader, and the decode of a very small image.
struct PipelineOverheadBenchmark {
    private static let imageCount = 100

    let rounds: Int

    private struct ImmediateTransport: HTTPTransport {
        let file: Data

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: 200, fields: ["Content-Type": "image/png"]),
                body: HTTPBody(file))
        }
    }

    func run() async throws {
        let file = try PNGEncoder().encode(.coordinates(PixelSize(width: 8, height: 8)))
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(transport: ImmediateTransport(file: file)), codecs: .standard))
        let urls = (0..<Self.imageCount).compactMap { URL(string: "http://localhost/\($0).png") }

        Console.output(BenchTable.row(["overhead of a load", "microseconds"]))
        for concurrency in [1, 8] {
            var best = Double.infinity
            for _ in 0..<rounds {
                let time = try await BenchTable.microseconds(5_000, concurrency: concurrency) { number in
                    let response = try await pipeline.load(urls[number % urls.count])
                    guard response.layer == .network else {
                        throw BenchError(description: "an image was found in a cache")
                    }
                }
                best = min(best, time)
            }
            let name = concurrency == 1 ? "one load at a time" : "\(concurrency) loads at a time"
            Console.output(BenchTable.row([name, "\(BenchTable.rounded(best))"]))
        }
        await pipeline.shutDown()
    }
}
