import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PrefetcherTests {
    private let clock = ManualClock()

    private var waiting: Stack {
        Stack(
            FakeDownloader { [clock] _, _ in
                try await clock.sleep(for: .seconds(1))
                return Download(data: level(7))
            })
    }

    private func requests(_ count: Int) throws -> [ImageRequest] { try (0..<count).map { try web("\($0)") } }

    @Test func `what is not cached is loaded, what is is skipped, what cannot be had is told`() async throws {
        let stack = Stack(
            FakeDownloader { request, _ in
                guard case .http(let http) = request.source, http.url.lastPathComponent != "2" else {
                    throw HTTPTransportError(.cannotConnect, "no")
                }
                return Download(data: level(7))
            })
        _ = try await stack.load(try web("1"))
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline)
        prefetcher.start(try requests(4))

        let report = await prefetcher.report()

        #expect(Set(report.loaded.map(\.key)) == Set(try [web("0"), web("3")].map(\.key)))
        #expect(report.skipped.map(\.key) == [try web("1").key])
        #expect(report.failed.map(\.request.key) == [try web("2").key])
        for name in ["0", "1", "3"] { #expect(stack.pipeline.cachedImage(for: try web(name)) != nil) }
        // The next report begins anew.
        #expect(await prefetcher.report().loaded.isEmpty)
    }

    @Test func `to disk means the bytes, and no decoding`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline, destination: .disk)
        prefetcher.start(try requests(3))
        #expect(await prefetcher.report().loaded.count == 3)
        await stack.pipeline.flush()
        #expect(stack.disk.entries.value.count == 3 && stack.memory.count == 0 && stack.codec.decodes.value == 0)
        prefetcher.start(try requests(3))
        #expect(await prefetcher.report().skipped.count == 3)
    }

    @Test func `no more than a few run at once, less urgent than what is wanted now, and equal ones once`() async throws
    {
        let stack = waiting
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline, width: 2)
        prefetcher.start(try requests(5))
        prefetcher.start(try requests(5))
        try await clock.waitForSleepers(count: 2)
        for _ in 0..<200 { await Task.yield() }
        #expect(clock.sleeperCount == 2 && prefetcher.count == 5)
        #expect(stack.downloader.requests.value.map(\.priority.value) == [.low, .low])

        prefetcher.priority = .veryLow
        #expect(stack.downloader.requests.value.map(\.priority.value) == [.veryLow, .veryLow])
        // A view that wants one of them makes it as urgent as itself.
        let view = stack.pipeline.task(for: try web("0") { $0.priority = .high })
        let live = stack.downloader.requests.value.first { request in
            if case .http(let http) = request.source { http.url.lastPathComponent == "0" } else { false }
        }
        while live?.priority.value != .high { await Task.yield() }

        while prefetcher.count > 0 {
            clock.advance(by: .seconds(1))
            await Task.yield()
        }
        #expect(try await view.response.image.level == 7)
        #expect(await prefetcher.report().loaded.count == 5)
        #expect(stack.downloader.count == 5)
    }

    @Test func `while it is paused nothing begins, and what is given up ends`() async throws {
        let stack = waiting
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline, width: 2)
        prefetcher.isPaused = true
        prefetcher.start(try requests(4))
        for _ in 0..<200 { await Task.yield() }
        #expect(stack.downloader.count == 0 && prefetcher.count == 4)

        prefetcher.isPaused = false
        try await clock.waitForSleepers(count: 2)
        prefetcher.stop([try web("0"), try web("3")])
        while stack.downloader.count < 3 { await Task.yield() }
        #expect(prefetcher.count == 2)
        prefetcher.stopAll()
        while clock.sleeperCount > 0 { await Task.yield() }
        #expect(prefetcher.count == 0)
        let report = await prefetcher.report()
        #expect(report.loaded.isEmpty && report.failed.isEmpty)
    }

    @Test func `when it goes, its work ends`() async throws {
        let stack = waiting
        var prefetcher: ImagePrefetcher? = ImagePrefetcher(pipeline: stack.pipeline, width: 3)
        prefetcher?.start(try requests(10))
        try await clock.waitForSleepers(count: 3)
        prefetcher = nil
        while clock.sleeperCount > 0 { await Task.yield() }
        #expect(stack.downloader.count == 3)
    }

    @Test func `what there is no room for is skipped`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline, limit: 3)
        prefetcher.isPaused = true
        prefetcher.start(try requests(5))
        prefetcher.isPaused = false
        let report = await prefetcher.report()
        #expect(report.loaded.count == 3 && report.skipped.count == 2)
    }
}
