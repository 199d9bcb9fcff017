import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct TaskTests {
    private let clock = ManualClock()

    private var waiting: Stack {
        Stack(
            FakeDownloader { [clock] _, progress in
                progress(DownloadProgress(received: 1, expected: 7))
                try await clock.sleep(for: .seconds(1))
                progress(DownloadProgress(received: 7, expected: 7))
                return Download(data: level(7))
            })
    }

    private func word(_ event: ImageTask.Event) -> String {
        switch event {
        case .update(.progress(let progress)): "progress \(progress.received)"
        case .update(.preview): "preview"
        case .update(.cached(let response)): "cached \(response.image.level)"
        case .finished(.success(let response)): "finished \(response.image.level)"
        case .finished(.failure(let error)): error is CancellationError ? "cancelled" : "failed"
        }
    }

    @Test func `a task reports its progress and its one end in order`() async throws {
        let stack = waiting
        let words = Watched<[String]>([])
        let task = stack.pipeline.startTask(try web("a")) { event in words.update { $0.append(word(event)) } }
        try await clock.waitForSleepers(count: 1)
        let latest = await task.progress.first { _ in true }
        #expect(latest == DownloadProgress(received: 1, expected: 7))
        clock.advance(by: .seconds(1))

        #expect(try await task.response.image.level == 7)
        #expect(words.value == ["progress 1", "progress 7", "finished 7"])
        #expect(!task.isCancelled)
        task.cancel()
        #expect(!task.isCancelled)
        #expect(words.value.count == 3)
    }

    @Test func `tasks have different identifiers, also of equal requests and after a task is released`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        var ids: Set<ImageTask.ID> = []
        for _ in 0..<20 {
            let task = stack.pipeline.imageTask(with: try web("a"))
            _ = try await task.response
            ids.insert(task.id)
        }
        #expect(ids.count == 20)
    }

    @Test func `a canceled task ends at once and reports it once`() async throws {
        let stack = waiting
        let words = Watched<[String]>([])
        let task = stack.pipeline.startTask(try web("a")) { event in words.update { $0.append(word(event)) } }
        let other = stack.pipeline.imageTask(with: try web("a"))
        try await clock.waitForSleepers(count: 1)

        task.cancel()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.response }

        #expect(task.isCancelled)
        #expect(words.value.last == "cancelled")
        #expect(words.value.filter { $0 == "cancelled" }.count == 1)
        clock.advance(by: .seconds(1))
        #expect(try await other.response.image.level == 7)
    }

    @Test func `the progress sequence begins with the last value and ends with the load`() async throws {
        let stack = waiting
        let task = stack.pipeline.imageTask(with: try web("a"))
        try await clock.waitForSleepers(count: 1)

        var steps: [Int] = []
        for await progress in task.progress {
            steps.append(progress.received)
            if steps == [1] { clock.advance(by: .seconds(1)) }
        }

        #expect(steps == [1, 7])
        #expect(try await task.image.level == 7)
        for await _ in task.progress { Issue.record("a load that has ended reports no progress") }
    }

    @Test func `the sequences of a failed load end without an error, and its image throws`() async throws {
        let stack = Stack(
            FakeDownloader { [clock] _, _ in
                try await clock.sleep(for: .seconds(1))
                throw HTTPTransportError(.cannotConnect, "no")
            })
        let task = stack.pipeline.imageTask(with: try web("a") { $0.deliversPreviews = true })
        let (progress, previews) = (task.progress, task.previews)
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))

        for await _ in progress { Issue.record("there was no progress") }
        for await _ in previews { Issue.record("there was no preview") }

        let error = await #expect(throws: PipelineError.self) { try await task.image }
        #expect(error?.code == .download)
    }

    @Test(arguments: [true, false])
    func `canceling the Swift task that awaits the image cancels the load`(awaitsImage: Bool) async throws {
        let stack = waiting
        let task = stack.pipeline.imageTask(with: try web("a"))
        let awaiting = Task { awaitsImage ? try await task.image : try await task.response.image }
        try await clock.waitForSleepers(count: 1)

        awaiting.cancel()

        await #expect(throws: CancellationError.self) { try await awaiting.value }
        await #expect(throws: CancellationError.self) { try await task.response }
        #expect(task.isCancelled)
        await stack.pipeline.shutDown()
        #expect(clock.sleeperCount == 0)
    }

    @Test func `canceling the Swift task that awaits the image keeps the load of other image tasks`() async throws {
        let isFirst = Watched(true)
        let stack = Stack(
            FakeDownloader { [clock] _, _ in
                // A second download begins only if the other task has started when the first one is canceled.
                let waits = isFirst.update { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if waits { try await clock.sleep(for: .seconds(1)) }
                return Download(data: level(7))
            })
        let task = stack.pipeline.imageTask(with: try web("a"))
        try await clock.waitForSleepers(count: 1)
        let other = stack.pipeline.imageTask(with: try web("a"))
        let awaiting = Task { try await task.image }

        awaiting.cancel()
        await #expect(throws: CancellationError.self) { try await awaiting.value }
        clock.advance(by: .seconds(1))

        #expect(try await other.image.level == 7)
        #expect(task.isCancelled)
        #expect(!other.isCancelled)
    }

    @Test func `canceling a Swift task that iterates the progress keeps the load`() async throws {
        let stack = waiting
        let task = stack.pipeline.imageTask(with: try web("a"))
        let following = Task { for await _ in task.progress {} }
        try await clock.waitForSleepers(count: 1)

        following.cancel()
        await following.value
        #expect(!task.isCancelled)
        clock.advance(by: .seconds(1))

        #expect(try await task.image.level == 7)
    }

    @Test func `a finished image task returns its image to a canceled Swift task`() async throws {
        let task = Stack(FakeDownloader(giving: level(7))).pipeline.imageTask(with: try web("a"))
        _ = try await task.image
        let awaiting = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await task.image.level
        }

        #expect(try await awaiting.value == 7)
        #expect(!task.isCancelled)
    }

    @Test func `the progress can be followed by any number of sequences`() async throws {
        let stack = waiting
        let task = stack.pipeline.imageTask(with: try web("a"))
        let followers = (0..<3).map { _ in
            let progress = task.progress
            return Task {
                var received: [Int] = []
                for await step in progress { received.append(step.received) }
                return received
            }
        }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        _ = try await task.response

        for follower in followers { #expect(await follower.value.last == 7) }
    }

    @Test func `a sequence that begins in the middle begins with the latest progress`() async throws {
        let stack = Stack(
            FakeDownloader { [clock] request, progress in
                progress(DownloadProgress(received: 1, expected: 7))
                progress(DownloadProgress(received: 2, expected: 7))
                try await clock.sleep(for: .seconds(1))
                return Download(data: level(8))
            })
        let task = stack.pipeline.imageTask(with: try web("a"))
        try await clock.waitForSleepers(count: 1)

        let progress = task.progress
        clock.advance(by: .seconds(1))

        var received: [Int] = []
        for await step in progress { received.append(step.received) }
        #expect(received == [2])
    }

    @Test func `callbacks run on their executor, one batch at a time and in order`() async throws {
        let stack = waiting
        let pending = Watched<[@Sendable () -> Void]>([])
        let words = Watched<[String]>([])
        let task = stack.pipeline.startTask(try web("a"), on: { work in pending.update { $0.append(work) } }) { event in
            words.update { $0.append(word(event)) }
        }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        _ = try await task.response

        #expect(words.value.isEmpty)
        #expect(pending.value.count == 1)
        for work in pending.value { work() }
        // Of the steps that waited only the last is delivered.
        #expect(words.value == ["progress 7", "finished 7"])
    }

    @Test func `the closures of a task are called on the main actor, the result last`() async throws {
        let stack = Stack(
            FakeDownloader { _, progress in
                progress(DownloadProgress(received: 7, expected: 7))
                return Download(data: level(7))
            })
        let words = Watched<[String]>([])
        stack.pipeline.imageTask(with: try web("a")) { update in
            MainActor.assertIsolated()
            words.update { $0.append(word(.update(update))) }
        } onResult: { result in
            MainActor.assertIsolated()
            words.update { $0.append(word(.finished(result))) }
        }
        try await words.waitUntil { $0 == ["progress 7", "finished 7"] }
    }

    @Test func `a failed task passes its error to the closure for the result`() async throws {
        let stack = Stack(FakeDownloader { _, _ in throw HTTPTransportError(.cannotConnect, "no") })
        let words = Watched<[String]>([])
        stack.pipeline.imageTask(
            with: try web("a"),
            onResult: { result in
                words.update { $0.append(word(.finished(result))) }
            })
        try await words.waitUntil { $0 == ["failed"] }
    }

    @Test func `loading many images limits concurrency and delivers each image`() async throws {
        let executor = ManualExecutor()
        let stack = Stack(
            FakeDownloader { [clock] request, progress in
                try await clock.sleep(for: .seconds(1))
                guard case .http(let http) = request.source, http.url.lastPathComponent != "3" else {
                    throw HTTPTransportError(.cannotConnect, "no")
                }
                progress(DownloadProgress(received: 1, expected: nil))
                return Download(data: level(Int(http.url.lastPathComponent) ?? 0))
            }, executor: executor)
        let requests = try (0..<30).map { try web("\($0)") }
        let levels = Watched<[Int: UInt8]>([:])
        let failed = Watched<[Int]>([])
        let told = Watched(Set<Int>())
        let all = Task(executorPreference: executor) {
            try await stack.pipeline.loadAll(requests, maxConcurrentLoads: 4) { index, _ in
                told.update { _ = $0.insert(index) }
            } onResult: { index, result in
                switch result {
                case .success(let response): levels.update { $0[index] = response.image.level }
                case .failure: failed.update { $0.append(index) }
                }
            }
        }
        executor.drain()
        for left in stride(from: 30, to: 0, by: -4) {
            #expect(clock.sleeperCount == min(4, left))
            clock.advance(by: .seconds(1))
            executor.drain()
        }
        try await all.value
        #expect(told.value == Set(0..<30).subtracting([3]))
        #expect(levels.value.count == 29)
        #expect(levels.value.allSatisfy { $0.key == Int($0.value) })
        #expect(failed.value == [3])
    }

    @Test func `ending the iteration cancels the remaining loads`() async throws {
        struct Enough: Error {}
        let executor = ManualExecutor()
        let stack = Stack(
            FakeDownloader { [clock] request, _ in
                if case .http(let http) = request.source, http.url.lastPathComponent == "0" {
                    return Download(data: level(0))
                }
                try await clock.sleep(for: .seconds(1))
                return Download(data: level(1))
            }, executor: executor)
        let requests = try (0..<10).map { try web("\($0)") }
        await #expect(throws: Enough.self) {
            try await executor.drain {
                try await stack.pipeline.loadAll(requests, maxConcurrentLoads: 3) { _, _ in throw Enough() }
            }
        }
        #expect(clock.sleeperCount == 0)
        #expect(stack.downloader.count <= 4)
    }

    @Test func `shutdown waits for work without waiters`() async throws {
        let executor = ManualExecutor()
        let isShutDown = Watched<Bool?>(nil)
        let task = Watched<ImageTask?>(nil)
        let stack = Stack(FakeDownloader(giving: level(3)), executor: executor)
        let request = try web("a") {
            $0.processors = [
                Held {
                    task.value?.cancel()
                    Task(executorPreference: executor) {
                        await stack.pipeline.shutDown()
                        isShutDown.update { $0 = true }
                    }
                    isShutDown.update { $0 = false }
                    // Everything that can happen before the processor returns.
                    executor.drain()
                    #expect(isShutDown.value == false)
                }
            ]
        }
        let started = stack.pipeline.imageTask(with: request)
        task.update { $0 = started }
        executor.drain()

        await #expect(throws: CancellationError.self) { try await started.response }
        #expect(isShutDown.value == true)
    }

    @Test func `after shutdown a pipeline refuses requests and no work runs`() async throws {
        let stack = waiting
        let task = stack.pipeline.imageTask(with: try web("a"))
        try await clock.waitForSleepers(count: 1)

        await stack.pipeline.shutDown()

        for attempt in [
            { try await task.response }, { try await stack.load(try web("a")) }, { try await stack.load(try web("b")) },
        ] as [@Sendable () async throws -> ImageResponse] {
            let error = await #expect(throws: PipelineError.self) { _ = try await attempt() }
            #expect(error?.code == .shutDown)
        }
        #expect(clock.sleeperCount == 0)
    }
}
