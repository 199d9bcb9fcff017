import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RandomLoadTests {
    /// Ten resources with a few variants each, joined, raised and canceled at random: every task has one end and the
    /// right image, work is shared, and nothing is left.
    @Test func `thousands of random tasks each end once with the right image`() async throws {
        let running = Watched<[String: Int]>([:])
        let stack = Stack(
            FakeDownloader { request, progress in
                guard case .http(let http) = request.source else { throw CancellationError() }
                let name = http.url.lastPathComponent
                running.update { $0[name, default: 0] += 1 }
                defer { running.update { $0[name, default: 0] -= 1 } }
                for step in 0..<5 {
                    progress(DownloadProgress(received: step, expected: nil))
                    _ = request.priority.value
                    // Yields, so that requests join, rise and are canceled between the steps of a download.
                    await letOthersRun()
                }
                try Task.checkCancellation()
                return Download(data: level((Int(name) ?? 0) * 10))
            })
        var random = SeededGenerator(seed: 8)
        let ends = Watched<[Int: Int]>([:])
        var tasks: [(task: ImageTask, expected: UInt8, wasCancelled: Bool)] = []
        for number in 0..<3_000 {
            let resource = Int.random(in: 0..<10, using: &random)
            let steps = (0..<Int.random(in: 0..<3, using: &random)).map { Brighten(step: UInt8($0 + 1)) }
            let request = try web("\(resource)") {
                $0.processors = steps
                if number % 3 == 0 { $0.cachePolicy.memory = .none }
                $0.cachePolicy.disk = .none
                $0.priority = LoadPriority.allCases[number % 5]
            }
            let task = stack.pipeline.startTask(request) { event in
                if case .finished = event { ends.update { $0[number, default: 0] += 1 } }
            }
            let expected = UInt8(resource * 10 + steps.reduce(0) { $0 + Int($1.step) })
            tasks.append((task, expected, Int.random(in: 0..<4, using: &random) == 0))
            if let last = tasks.last, last.wasCancelled, number % 2 == 0 { last.task.cancel() }
            if let other = tasks.randomElement(using: &random) {
                other.task.priority = LoadPriority.allCases.randomElement(using: &random) ?? .normal
            }
            // Yields, so that some requests find a load in progress and others none. Any order must pass.
            if number % 7 == 0 { await letOthersRun() }
            if number % 500 == 499 { await stack.pipeline.cache.remove(request, allVariants: true) }
        }
        for entry in tasks where entry.wasCancelled { entry.task.cancel() }
        for entry in tasks {
            do {
                #expect(try await entry.task.response.image.level == entry.expected)
            } catch is CancellationError {
                #expect(entry.wasCancelled)
            }
        }
        #expect(ends.value.count == 3_000)
        #expect(ends.value.values.allSatisfy { $0 == 1 })
        await stack.pipeline.shutDown()
        #expect(running.value.values.allSatisfy { $0 == 0 })
        #expect(stack.downloader.count < 1_500)
    }

    @Test func `ten thousand concurrent requests for one image cause one download and one decode`() async throws {
        let isOpen = Watched(false)
        let stack = Stack(
            FakeDownloader { _, _ in
                try await isOpen.waitUntil { $0 }
                return Download(data: level(7))
            })
        let request = try web("a")
        let tasks = (0..<10_000).map { _ in stack.pipeline.imageTask(with: request) }
        isOpen.update { $0 = true }
        for task in tasks { #expect(try await task.response.image.level == 7) }
        #expect(stack.downloader.count == 1)
        #expect(stack.codec.decodes.value == 1)
    }
}
