import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// A disk cache whose writes do not end does not block loads forever.
@Suite(.timeLimit(.minutes(10)))
struct StalledDiskTests {
    private let clock = ManualClock()
    /// The clock of the disk, which ends its writes.
    private let mechanics = ManualClock()
    private let executor = ManualExecutor()

    /// Four KiB and the bytes of each image: two writes fit.
    private func stack(on executor: ManualExecutor? = nil) -> Stack {
        let disk = FakeDataCache { [mechanics] _ in try await mechanics.sleep(for: .seconds(1_000)) }
        let limit = 2 * (4_096 + level(7).count)
        return Stack(
            FakeDownloader(giving: level(7)), disk: disk, maximumPendingWriteByteCount: limit, clock: clock,
            executor: executor)
    }

    /// Loads images on the executor, which wait for nothing but the clocks.
    private func load(_ names: [String], by stack: Stack) async throws {
        for name in names {
            let load = stack.start(try web(name))
            executor.drain()
            _ = try await load.value
        }
    }

    private let rejection = "disk write failed: the disk cache is stalled, and its write queue is full"

    @Test func `a load waits a limited time for a stalled disk, and later loads do not wait`() async throws {
        let stack = stack(on: executor)
        try await load(["a", "b"], by: stack)
        let third = stack.start(try web("c"))
        executor.drain()
        #expect(clock.sleeperCount == 1)
        #expect(stack.log.words.count { $0 == "finished network" } == 2)

        clock.advance(by: .seconds(10))
        executor.drain()

        _ = try await third.value
        #expect(!stack.log.words.contains(rejection))
        try await load(["d", "e"], by: stack)
        #expect(stack.log.words.count { $0 == rejection } == 2)
        #expect(stack.disk.stores.value == 3)

        // It continues, and so does its write.
        mechanics.advance(by: .seconds(1_000))
        executor.drain()
        #expect(stack.disk.entries.value.count == 3)
        try await load(["f"], by: stack)
        #expect(mechanics.sleeperCount == 1)
        mechanics.advance(by: .seconds(1_000))
        executor.drain()
        #expect(stack.stored(try web("f")) == level(7))
    }

    @Test func `bytes on their way to the disk are not downloaded again, unless they are removed`() async throws {
        let stack = stack()
        let request = try web("a")
        _ = try await stack.load(request)
        try await mechanics.waitForSleepers(count: 1)

        #expect(try await stack.pipeline.data(for: request) == level(7))
        #expect(stack.downloader.count == 1)

        // The removal waits for the write. It counts from its beginning.
        let removal = Task { await stack.pipeline.cache.remove(request) }
        try await clock.waitForSleepers(count: 1)
        #expect(try await stack.pipeline.data(for: request) == level(7))
        #expect(stack.downloader.count == 2)
        mechanics.advance(by: .seconds(1_000))
        await removal.value
        await stack.pipeline.shutDown()
    }

    @Test func `a slow disk is not treated as stalled`() async throws {
        let stack = stack(on: executor)
        try await load(["a", "b"], by: stack)
        #expect(mechanics.sleeperCount == 2)
        mechanics.advance(by: .seconds(500))
        let third = stack.start(try web("c"))
        executor.drain()
        #expect(mechanics.sleeperCount == 3)
        #expect(clock.sleeperCount == 1)
        mechanics.advance(by: .seconds(500))
        executor.drain()
        #expect(stack.disk.entries.value.count == 2)
        // Its own write takes longer than the time limit, and others have ended meanwhile.
        clock.advance(by: .seconds(10))
        executor.drain()
        _ = try await third.value

        try await load(["d"], by: stack)
        #expect(!stack.log.words.contains(rejection))
        mechanics.advance(by: .seconds(1_000))
        executor.drain()
        #expect(stack.disk.entries.value.count == 4)
    }

    @Test func `flushing, removing and shutting down complete on a stalled disk`() async throws {
        let stack = stack()
        for name in ["a", "b"] { _ = try await stack.load(try web(name)) }
        try await mechanics.waitForSleepers(count: 2)
        let removal = Task { await stack.pipeline.cache.remove(try web("a")) }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(10))
        try await removal.value

        await stack.pipeline.flush()
        await stack.pipeline.shutDown()
        #expect(stack.disk.entries.value.isEmpty)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a removal waits for the writes of its own resource only`() async throws {
        let stack = stack()
        _ = try await stack.load(try web("a"))
        try await mechanics.waitForSleepers(count: 1)

        await stack.pipeline.cache.remove(try web("b"))

        #expect(clock.sleeperCount == 0)
        #expect(mechanics.sleeperCount == 1)
        mechanics.advance(by: .seconds(1_000))
        await stack.pipeline.shutDown()
    }
}
