import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CoalescingTests {
    private let clock = ManualClock()
    private let executor = ManualExecutor()

    /// A downloader that returns a level after the clock has advanced.
    private var waiting: FakeDownloader {
        FakeDownloader { [clock] _, _ in
            try await clock.sleep(for: .seconds(1))
            return Download(data: level(7))
        }
    }

    @Test func `ten equal requests cause one download, one decode and one write`() async throws {
        let stack = Stack(waiting)
        let request = try web("a")
        // An immediate task has joined when it returns here.
        let tasks = (0..<10).map { _ in Task.immediate { try await stack.load(request) } }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))

        for task in tasks { #expect(try await task.value.image.level == 7) }
        await stack.pipeline.flush()
        #expect(stack.downloader.count == 1)
        #expect(stack.codec.decodes.value == 1)
        #expect(stack.disk.stores.value == 1)
    }

    @Test func `requests for variants of one resource share its download and write`() async throws {
        let seen = Watched<Set<UInt8>>([])
        let stack = Stack(
            FakeDownloader { [clock] _, progress in
                try await clock.sleep(for: .seconds(1))
                progress(DownloadProgress(received: 1, expected: nil))
                return Download(data: level(100))
            }, executor: executor)
        let tasks = try (0..<5 as Range<UInt8>).map { step in
            let request = try web("a") { $0.processors = [Brighten(step: step)] }
            return Task(executorPreference: executor) {
                try await stack.pipeline.load(request) { _ in seen.update { _ = $0.insert(step) } }.image.level
            }
        }
        executor.drain()
        clock.advance(by: .seconds(1))
        executor.drain()

        #expect(seen.value.count == 5)
        for (step, task) in tasks.enumerated() { #expect(try await task.value == UInt8(100 + step)) }
        #expect(stack.downloader.count == 1)
        #expect(stack.disk.stores.value == 1)
        #expect(stack.memory.count == 5)
    }

    @Test func `requests with different cache policies do not share a load`() async throws {
        let stack = Stack(waiting)
        let (all, reload) = (try web("a"), try web("a") { $0.cachePolicy = .reload })
        let tasks = [all, reload].map { request in Task.immediate { try await stack.load(request) } }
        try await clock.waitForSleepers(count: 2)
        clock.advance(by: .seconds(1))
        for task in tasks { _ = try await task.value }
        #expect(stack.downloader.count == 2)
    }

    @Test func `the last waiter to leave cancels the download`() async throws {
        let stack = Stack(waiting, executor: executor)
        let request = try web("a")
        let tasks = (0..<3).map { _ in stack.start(request) }
        executor.drain()
        #expect(clock.sleeperCount == 1)

        for task in tasks { task.cancel() }
        executor.drain()

        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(clock.sleeperCount == 0)
        #expect(stack.log.words.contains("cancelled"))
        #expect(!stack.log.words.contains { $0.hasPrefix("failed") })
        #expect(stack.memory.count == 0)
    }

    @Test func `a waiter that leaves does not cancel the load of the others`() async throws {
        let stack = Stack(waiting)
        let request = try web("a")
        let tasks = (0..<3).map { _ in Task.immediate { try await stack.load(request) } }
        try await clock.waitForSleepers(count: 1)

        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        clock.advance(by: .seconds(1))

        for index in [0, 2] { #expect(try await tasks[index].value.image.level == 7) }
        #expect(stack.downloader.count == 1)
    }

    @Test func `canceling one variant keeps the other's download`() async throws {
        let stack = Stack(waiting, executor: executor)
        let requests = [try web("a"), try web("a") { $0.processors = [Brighten(step: 1)] }]
        let tasks = requests.map { stack.start($0) }
        executor.drain()
        #expect(clock.sleeperCount == 1)

        tasks[0].cancel()
        executor.drain()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        executor.drain()

        #expect(try await tasks[1].value.image.level == 8)
        #expect(stack.downloader.count == 1)
    }

    @Test func `with random joins and cancellations every remaining waiter receives the right image`() async throws {
        let isOpen = Watched(false)
        let stack = Stack(
            FakeDownloader { request, _ in
                // The first downloads wait until every request has been made.
                try await isOpen.waitUntil { $0 }
                try Task.checkCancellation()
                guard case .http(let http) = request.source else { return Download(data: Data()) }
                return Download(data: level(Int(http.url.path.dropFirst()) ?? 0))
            })
        let tasks = try (0..<600).map { number in
            let request = try web("\(number % 4)") {
                $0.processors = number % 3 == 0 ? [Brighten(step: 100)] : []
                if number % 2 == 0 { $0.cachePolicy = .reload }
            }
            let task = Task { try await stack.load(request).image.level }
            if number % 5 == 0 { task.cancel() }
            return task
        }
        isOpen.update { $0 = true }
        for (number, task) in tasks.enumerated() {
            if number % 5 == 1 { task.cancel() }
            do {
                #expect(try await task.value == UInt8(number % 4 + (number % 3 == 0 ? 100 : 0)))
            } catch is CancellationError {
                #expect(number % 5 <= 1)
            }
        }
        await stack.pipeline.flush()
        for number in 0..<4 {
            let found = stack.stored(try web("\(number)"))
            #expect(found == nil || found == level(number))
        }
    }
}
