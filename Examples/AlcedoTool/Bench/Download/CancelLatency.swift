import Alcedo
import AlcedoTesting
import ExampleSupport
import FoundationEssentials

/// The time from the cancellation of a download that is half done to the server's noticing that its socket is closed.
struct CancelLatency {
    let count: Int

    func run() async throws {
        let origin = try LoopbackOrigin { _ in
            OriginReply.ok(Data(count: DownloadCase.large)).stalling(at: .afterBody(DownloadCase.small))
        }
        defer { origin.stop() }
        let downloader = Downloader(transport: CURLTransport())
        let url = origin.url(for: "/")
        var times: [Double] = []
        for number in 1...count {
            let task = Task {
                _ = try await downloader.download(DownloadRequest(.http(HTTPRequest(url: url))), progress: nil)
            }
            try await origin.waitUntil { $0.requestCount >= number && $0.stalledCount > 0 }
            let start = ContinuousClock.now
            task.cancel()
            try await origin.waitForDisconnects(count: number)
            times.append((ContinuousClock.now - start) / .milliseconds(1))
        }
        times.sort()
        let (median, worst) = (times[count / 2], times[count - 1])
        BenchFigure("cancelling closes the socket, worst of \(count)", worst, unit: " ms", .atMost(5)).note()
        Console.output(
            "cancelled: the socket is closed after \(Self.text(median)) ms, at worst of \(count) \(Self.text(worst)) ms "
                + "(goal: < 5)\n")
    }

    private static func text(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }
}
