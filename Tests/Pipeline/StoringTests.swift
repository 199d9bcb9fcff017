import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StoringTests {
    private let clock = ManualClock()
    private let executor = ManualExecutor()

    /// A data cache whose first store waits for the clock.
    private var slow: FakeDataCache {
        FakeDataCache { [clock] number in if number == 1 { try await clock.sleep(for: .seconds(1)) } }
    }

    @Test(arguments: ["fail:corrupt", "fail:truncated", "<html>", "nothing"])
    func `data that is not an image is not stored`(content: String) async throws {
        let stack = Stack(FakeDownloader(giving: Data(content.utf8)))
        let error = try await stack.failure(try web("a"))
        await stack.pipeline.flush()

        guard case .decoding = error.code else {
            Issue.record("the error is \(error.code)")
            return
        }
        #expect(error.cause is ImageDecodingError)
        #expect(stack.memory.count == 0)
        #expect(stack.disk.stores.value == 0)
        #expect(stack.log.words.last?.hasPrefix("failed") == true)
        _ = try await stack.failure(try web("a"))
        #expect(stack.downloader.count == 2)
    }

    @Test func `content that the server forbids to store is kept in memory, not on disk`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7), fields: ["Cache-Control": "private, no-store"]))
        _ = try await stack.load(try web("a"))
        await stack.pipeline.flush()
        #expect(stack.disk.stores.value == 0)
        #expect(stack.memory.count == 1)
    }

    @Test(
        arguments: [
            (.notAllowed, "max-age=60", false), (.allowedInMemoryOnly, "max-age=60", false),
            (.allowed, "max-age=60", true),
            // The decision counts, not the field, because a hook may have forbidden storing, or must-understand may
            // have allowed it.
            (.allowed, "no-store, must-understand", true),
        ] as [(ResponseStoragePolicy, String, Bool)])
    func `an original is stored on disk when the response cache's decision allows it`(
        policy: ResponseStoragePolicy, control: String, isKept: Bool
    ) async throws {
        let stack = Stack(
            FakeDownloader { request, _ in
                guard case .http(let http) = request.source else { return Download(data: Data()) }
                return Download(
                    data: level(7),
                    head: HTTPResponseHead(url: http.url, status: 200, fields: ["Cache-Control": control]),
                    caching: ResponseCaching(source: .new, decision: StorageDecision(policy)))
            })
        _ = try await stack.load(try web("a"))
        await stack.pipeline.flush()
        // The bytes are under the own fields of the request if the response is for one use.
        #expect(stack.disk.entries.value.values.contains { $0.data == level(7) } == isKept)
        #expect(stack.memory.count == 1)
    }

    @Test func `a failing disk cache fails no load and is reported`() async throws {
        let stack = Stack(
            FakeDownloader(giving: level(7)), disk: FakeDataCache { _ in throw DataCacheError(.noSpace, "full") })
        #expect(try await stack.load(try web("a")).image.level == 7)
        await stack.pipeline.flush()
        // The write runs in the background, so either may be reported first.
        let told = try #require(stack.log.words.firstIndex(of: "disk write failed: full"))
        #expect(try stack.log.events.value[told].key == web("a").originalKey)
    }

    @Test func `a load does not wait for its write, and flushing does`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)), disk: slow, executor: executor)
        let request = try web("a")
        _ = try await executor.drain { try await stack.load(request) }
        #expect(clock.sleeperCount == 1)
        let isFlushed = Watched(false)
        Task(executorPreference: executor) {
            await stack.pipeline.flush()
            isFlushed.update { $0 = true }
        }
        executor.drain()
        #expect(!isFlushed.value)
        #expect(stack.disk.entries.value.isEmpty)

        clock.advance(by: .seconds(1))
        executor.drain()

        #expect(isFlushed.value)

        #expect(stack.stored(try web("a")) == level(7))
    }

    @Test func `a load waits for its own write when too many bytes are pending`() async throws {
        let stack = Stack(
            FakeDownloader(giving: level(7)), disk: slow, maximumPendingWriteByteCount: 6, executor: executor)
        let load = stack.start(try web("a"))
        executor.drain()
        #expect(clock.sleeperCount == 1)
        #expect(!stack.log.words.contains("finished network"))

        clock.advance(by: .seconds(1))
        executor.drain()

        _ = try await load.value
        #expect(stack.stored(try web("a")) == level(7))
    }

    @Test func `the number of pending writes is limited however small the images are`() async throws {
        // Four KiB and the bytes of each image.
        let limit = 10 * (4_096 + level(7).count)
        let disk = FakeDataCache { [clock] _ in try await clock.sleep(for: .seconds(1)) }
        let stack = Stack(
            FakeDownloader(giving: level(7)), disk: disk, maximumPendingWriteByteCount: limit, executor: executor)
        let loads = try (0..<40).map { stack.start(try web("\($0)")) }
        executor.drain()
        #expect(clock.sleeperCount == 40)
        #expect(stack.log.words.count { $0 == "finished network" } == 10)

        clock.advance(by: .seconds(1))
        executor.drain()

        for load in loads { _ = try await load.value }
        #expect(stack.disk.entries.value.count == 40)
    }

    @Test func `completed writes free the budget`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)), maximumPendingWriteByteCount: 7)
        for number in 0..<50 { _ = try await stack.load(try web("\(number)")) }
        await stack.pipeline.flush()
        #expect(stack.disk.entries.value.count == 50)
    }

    @Test func `the write of the later load stays when two write under one key`() async throws {
        let levels = Watched(0)
        let stack = Stack(
            FakeDownloader { _, _ in
                Download(
                    data: level(
                        levels.update { count -> Int in
                            count += 1
                            return count
                        }))
            }, disk: slow, executor: executor)
        let first = stack.start(try web("a"))
        executor.drain()
        _ = try await first.value
        #expect(clock.sleeperCount == 1)

        let second = stack.start(try web("a") { $0.cachePolicy = .reload })
        executor.drain()
        _ = try await second.value
        #expect(stack.disk.stores.value == 1)
        clock.advance(by: .seconds(1))
        executor.drain()

        #expect(stack.stored(try web("a")) == level(2))
    }

    @Test func `a processor error is thrown and no image is stored`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let rejection = ImageProcessingError(.invalidParameter, "no")
        let after = Brighten(step: 2)
        let error = try await stack.failure(
            try web("a") { $0.processors = [Brighten(step: 1, error: rejection), after] })

        #expect(error.code == .processing)
        #expect(error.message == "no")
        #expect(error.cause as? ImageProcessingError == rejection)
        #expect(stack.memory.count == 0)
        #expect(after.runs.value == 0)
    }

    @Test func `a downloader's error is the cause, and its cancellation cancels the load`() async throws {
        struct Failure: Error, Equatable {}
        let stack = Stack(FakeDownloader { _, _ in throw Failure() })
        let error = try await stack.failure(try web("a"))
        #expect(error.code == .download)
        #expect(error.cause as? Failure == Failure())

        let cancelled = Stack(FakeDownloader { _, _ in throw CancellationError() })
        await #expect(throws: CancellationError.self) { try await cancelled.load(try web("a")) }
        #expect(cancelled.log.words.last == "cancelled")
    }
}
