import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PriorityTests {
    private let clock = ManualClock()

    @Test func `the download has the highest priority of its waiters in every stage`() async throws {
        let executor = ManualExecutor()
        let stack = Stack(
            FakeDownloader { [clock] _, _ in
                try await clock.sleep(for: .seconds(1))
                return Download(data: level(7))
            }, executor: executor)
        let plain = stack.pipeline.imageTask(with: try web("a") { $0.priority = .low })
        executor.drain()
        #expect(clock.sleeperCount == 1)
        let live = try #require(stack.downloader.requests.value.first?.priority)
        #expect(live.value == .low)

        // Another image with the same bytes.
        let bright = stack.pipeline.imageTask(
            with: try web("a") {
                $0.processors = [Brighten(step: 1), Brighten(step: 2)]
                $0.priority = .high
            })
        executor.drain()
        #expect(live.value == .high)
        plain.priority = .veryHigh
        #expect(live.value == .veryHigh)
        #expect(plain.priority == .veryHigh)
        plain.priority = .veryLow
        #expect(live.value == .high)
        bright.cancel()
        executor.drain()
        await #expect(throws: CancellationError.self) { try await bright.response }
        #expect(live.value == .veryLow)
        #expect(clock.sleeperCount == 1)

        clock.advance(by: .seconds(1))
        executor.drain()
        #expect(try await plain.response.image.level == 7)
    }
}
