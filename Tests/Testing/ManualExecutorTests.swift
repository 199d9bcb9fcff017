import AlcedoTesting
import Dispatch
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ManualExecutorTests {
    private let executor = ManualExecutor()
    private let log = Watched<[String]>([])

    private struct Broken: Error {}

    private actor Counter {
        private(set) var count = 0

        func increment() { count += 1 }
    }

    private enum Name {
        @TaskLocal static var value = "none"
    }

    private func note(_ word: String) { log.update { $0.append(word) } }

    @Test func `a task runs when the executor is drained and not before`() {
        Task(executorPreference: executor) { note("ran") }
        #expect(executor.jobCount == 1)
        #expect(log.value.isEmpty)

        #expect(executor.drain() == 1)

        #expect(log.value == ["ran"])
        #expect(executor.jobCount == 0)
    }

    @Test func `draining an empty executor runs nothing`() {
        #expect(executor.drain() == 0)
    }

    @Test func `jobs run in the order in which they were enqueued`() {
        for number in 0..<10 { Task(executorPreference: executor, priority: .background) { note("\(number)") } }
        Task(executorPreference: executor, priority: .high) { note("high") }

        executor.drain()

        #expect(log.value == (0..<10).map { "\($0)" } + ["high"])
    }

    @Test func `a drain runs the jobs that its jobs enqueue: tasks, child tasks, actors and resumed tasks`() {
        let executor = executor
        Task(executorPreference: executor) {
            let counter = Counter()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<5 { group.addTask { await counter.increment() } }
            }
            note("\(await counter.count)")
            await withCheckedContinuation { continuation in
                Task(executorPreference: executor) { continuation.resume() }
            }
            note("resumed")
        }

        executor.drain()

        #expect(log.value == ["5", "resumed"])
        #expect(executor.jobCount == 0)
    }

    @Test func `the task that drains stays the current task`() async {
        let test = Task {
            Name.$value.withValue("test") {
                Task(executorPreference: executor) {
                    Name.$value.withValue("job") { note("\(Name.value) \(Task.isCancelled)") }
                }
                withUnsafeCurrentTask { $0?.cancel() }
                executor.drain()
                note("\(Name.value) \(Task.isCancelled)")
            }
        }

        await test.value

        #expect(log.value == ["job false", "test true"])
    }

    @Test func `a job may drain the executor`() {
        let executor = executor
        Task(executorPreference: executor) {
            note("outer")
            #expect(executor.drain() == 1)
            note("outer ends")
        }
        Task(executorPreference: executor) { note("inner") }

        #expect(executor.drain() == 1)

        #expect(log.value == ["outer", "inner", "outer ends"])
    }

    @Test func `a task that another thread resumes becomes a job of the executor`() async throws {
        let queue = DispatchQueue(label: "other")
        // Not before the executor is drained, which would otherwise run the job too.
        queue.suspend()
        let task = Task(executorPreference: executor) {
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
            note("back")
        }
        executor.drain()
        queue.resume()
        try await executor.waitForJobs()
        #expect(log.value.isEmpty)

        executor.drain()

        await task.value
        #expect(log.value == ["back"])
    }

    @Test func `draining until an event runs the jobs that arrive meanwhile and leaves none`() async throws {
        let queue = DispatchQueue(label: "other")
        let executor = executor
        let task = Task(executorPreference: executor) {
            for _ in 0..<20 {
                await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
            }
            Task(executorPreference: executor) { note("last") }
            return 7
        }

        #expect(await executor.drain { await task.value } == 7)

        #expect(log.value == ["last"])
        #expect(executor.jobCount == 0)
    }

    @Test func `draining until an event throws the event's error and drains`() async {
        Task(executorPreference: executor) { note("ran") }

        await #expect(throws: Broken.self) { try await executor.drain { throw Broken() } }

        #expect(log.value == ["ran"])
    }

    @Test func `nothing runs after draining until an event`() async {
        await executor.drain {}
        Task(executorPreference: executor) { note("ran") }

        #expect(executor.jobCount == 1)
        #expect(executor.drain() == 1)
    }

    @Test func `waiting for jobs ends when the task is canceled`() async {
        let waiting = Task { try await executor.waitForJobs() }

        waiting.cancel()

        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func `threads that drain concurrently run one job at a time and return when none runs`() {
        let (executor, running) = (executor, Watched(0))
        for _ in 0..<200 {
            Task(executorPreference: executor) {
                note(
                    running.update {
                        $0 += 1; return $0
                    } == 1 ? "alone" : "beside another")
                running.update { $0 -= 1 }
            }
        }
        let counts = Watched<[Int]>([])

        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            let count = executor.drain()
            #expect(running.value == 0)
            counts.update { $0.append(count) }
        }

        #expect(log.value == Array(repeating: "alone", count: 200))
        #expect(counts.value.reduce(0, +) == 200)
    }
}
