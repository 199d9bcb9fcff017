import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
import AlcedoTesting
import Foundation

/// Measures the time of a load that no cache serves and whose transport responds at once: the work of the pipeline and
/// the downloader, and the decode of a JPEG of 4 KB, which is also measured alone.
struct PipelineOverheadBenchmark {
    private static let imageCount = 100
    /// The size of an image of about 4 KB.
    private static let size = PixelSize(width: 200, height: 150)

    let rounds: Int

    private struct ImmediateTransport: HTTPTransport {
        let file: Data

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: 200, fields: ["Content-Type": "image/jpeg"]),
                body: HTTPBody(file))
        }
    }

    func run() async throws {
        let file = try JPEGEncoder().encode(.coordinates(Self.size))
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(transport: ImmediateTransport(file: file)), codecs: .standard))
        let urls = (0..<Self.imageCount).compactMap { URL(string: "http://localhost/\($0).jpg") }

        var decode = Double.infinity
        for _ in 0..<rounds {
            let time = try await BenchTable.microseconds(2_000, concurrency: 1) { _ in
                _ = try CodecRegistry.standard.decode(file)
            }
            decode = min(decode, time)
        }
        Console.output(BenchTable.row(["\(file.count) bytes of JPEG", "microseconds"]))
        Console.output(BenchTable.row(["decode alone", "\(BenchTable.rounded(decode))"]))
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
            guard concurrency == 1 else { continue }
            BenchFigure("a load without caches: time relative to the decode", best / decode, .atMost(1.3)).record()
        }
        await pipeline.shutDown()
    }
}
