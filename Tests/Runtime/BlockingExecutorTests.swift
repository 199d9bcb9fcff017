import AlcedoCore
import AlcedoRuntime
import AlcedoTesting
import Dispatch
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct BlockingExecutorTests {
    /// Keeps the only lane of an executor busy until `open` is called.
    private struct Plug {
        let task: Task<Void, any Error>
        private let gate = DispatchSemaphore(value: 0)

        init(_ executor: BlockingExecutor) async throws {
            let begun = Watched(false)
            task = Task { [gate] in
                try await executor.run {
                    begun.update { $0 = true }
                    gate.wait()
                }
            }
            try await begun.waitUntil { $0 }
        }

        func open() { gate.signal() }
    }

    @Test func `work returns its value or throws its error`() async throws {
        struct Failure: Error, Equatable { let code: Int }
        let executor = BlockingExecutor(name: "test", maxConcurrent: 2)

        #expect(try await executor.run { 5 } == 5)
        await #expect(throws: Failure(code: 3)) { try await executor.run { throw Failure(code: 3) } }
    }

    @Test func `at most as many pieces of work run concurrently as there are lanes`() async throws {
        let executor = BlockingExecutor(name: "test", maxConcurrent: 3)
        let counts = Watched((running: 0, most: 0, ended: 0))
        let gate = DispatchSemaphore(value: 0)
        // An immediate task has submitted its work when it returns here.
        let tasks = (0..<12).map { _ in
            Task.immediate {
                try await executor.run {
                    counts.update {
                        $0.running += 1
                        $0.most = max($0.most, $0.running)
                    }
                    gate.wait()
                    counts.update {
                        $0.running -= 1
                        $0.ended += 1
                    }
                }
            }
        }

        // They end one at a time, and another takes the lane while the rest still run and more work waits.
        for ended in 0...9 {
            try await counts.waitUntil { $0.ended == ended && $0.running >= 3 }
            #expect(counts.value.most == 3)
            gate.signal()
        }
        for _ in 0..<2 { gate.signal() }
        for task in tasks { try await task.value }

        #expect(counts.value.most == 3)
    }

    @Test func `work that has started sees the cancellation of its own task only`() async throws {
        let executor = BlockingExecutor(name: "test", maxConcurrent: 2)
        let (begun, gate) = (Watched(0), DispatchSemaphore(value: 0))
        let canceled = Task {
            try await executor.run {
                begun.update { $0 += 1 }
                while !BlockingExecutor.isWorkCanceled {}
            }
        }
        let other = Task {
            try await executor.run {
                begun.update { $0 += 1 }
                gate.wait()
                return BlockingExecutor.isWorkCanceled
            }
        }
        try await begun.waitUntil { $0 == 2 }

        canceled.cancel()
        try await canceled.value
        gate.signal()

        #expect(try await !other.value)
        #expect(try await executor.run { !BlockingExecutor.isWorkCanceled })
    }

    @Test func `a group at its limit leaves a lane to others, and waits for its own work`() async throws {
        let executor = BlockingExecutor(name: "test", maxConcurrent: 2, maxConcurrentPerGroup: 1)
        let gate = DispatchSemaphore(value: 0)
        let order = Watched<[String]>([])
        let slow = (1...3).map { number in
            Task.immediate {
                try await executor.run(priority: PriorityHandle(), group: "a") {
                    order.update { $0.append("a\(number)") }
                    gate.wait()
                }
            }
        }
        try await order.waitUntil { !$0.isEmpty }

        try await executor.run(priority: PriorityHandle(), group: "b") { order.update { $0.append("b") } }
        #expect(order.value == ["a1", "b"])
        #expect(executor.waitingCount == 2)

        slow[1].cancel()
        await #expect(throws: CancellationError.self) { try await slow[1].value }
        for _ in 0..<2 { gate.signal() }
        for task in [slow[0], slow[2]] { try await task.value }
        #expect(order.value == ["a1", "b", "a3"])
    }

    @Test func `the last idle lane is for groups without running jobs`() async throws {
        let executor = BlockingExecutor(name: "test", maxConcurrent: 4, maxConcurrentPerGroup: 2)
        let gate = DispatchSemaphore(value: 0)
        let running = Watched<[String]>([])
        func begin(_ name: String) -> Task<Void, any Error> {
            Task.immediate {
                try await executor.run(priority: PriorityHandle(), group: String(name.prefix(1))) {
                    running.update { $0.append(name) }
                    gate.wait()
                }
            }
        }
        var tasks = [begin("a1"), begin("a2")]
        try await running.waitUntil { $0.count == 2 }
        tasks += [begin("b1"), begin("b2")]
        try await running.waitUntil { $0.count == 3 }

        try await executor.run(priority: PriorityHandle(), group: "c") { running.update { $0.append("c") } }
        try await executor.run { running.update { $0.append("alone") } }
        #expect(Set(running.value) == ["a1", "a2", "b1", "c", "alone"])
        #expect(executor.waitingCount == 1)

        gate.signal()
        try await running.waitUntil { $0.contains("b2") }
        for _ in 0..<3 { gate.signal() }
        for task in tasks { try await task.value }
    }

    @Test func `the last idle lane does not wait for jobs of a higher priority that may not use it`() async throws {
        let executor = BlockingExecutor(name: "test", maxConcurrent: 3, maxConcurrentPerGroup: 2)
        let gate = DispatchSemaphore(value: 0)
        let running = Watched<[String]>([])
        func begin(_ name: String, _ priority: LoadPriority) -> Task<Void, any Error> {
            Task.immediate {
                try await executor.run(priority: PriorityHandle(priority), group: String(name.prefix(1))) {
                    running.update { $0.append(name) }
                    gate.wait()
                }
            }
        }
        var tasks = [begin("a1", .normal), begin("b1", .normal)]
        try await running.waitUntil { $0.count == 2 }
        tasks.append(begin("a2", .high))

        try await executor.run(priority: PriorityHandle(.low), group: "c") { running.update { $0.append("c") } }
        try await executor.run(priority: .low) { running.update { $0.append("alone") } }

        #expect(running.value.suffix(2) == ["c", "alone"])
        #expect(executor.waitingCount == 1)
        for _ in 0..<3 { gate.signal() }
        for task in tasks { try await task.value }
    }

    @Test(arguments: [0, -5]) func `a limit below one becomes one`(limit: Int) async throws {
        #expect(try await BlockingExecutor(name: "test", maxConcurrent: limit).run { 1 } == 1)
    }

    @Test func `work marked as first overtakes its equals and not higher priorities`() async throws {
        let executor = BlockingExecutor(name: "test", maxConcurrent: 1)
        let plug = try await Plug(executor)
        let order = Watched<[String]>([])
        let jobs: [(name: String, priority: LoadPriority, goesFirst: Bool)] = [
            ("normal 1", .normal, false), ("high", .high, false), ("normal 2", .normal, false),
            ("first", .normal, true), ("normal 3", .normal, false),
        ]
        let tasks = jobs.map { job in
            Task.immediate {
                try await executor.run(priority: PriorityHandle(job.priority), goesFirst: job.goesFirst) {
                    order.update { $0.append(job.name) }
                }
            }
        }

        plug.open()
        for task in tasks { try await task.value }
        try await plug.task.value

        #expect(order.value == ["high", "first", "normal 1", "normal 2", "normal 3"])
    }

    @Test func `higher priorities run first, equals in order of arrival`() async throws {
        let executor = BlockingExecutor(name: "test", maxConcurrent: 1)
        let plug = try await Plug(executor)
        let order = Watched<[String]>([])
        let jobs: [(String, LoadPriority)] = [
            ("low 1", .low), ("normal 1", .normal), ("very high 1", .veryHigh), ("low 2", .low),
            ("very low 1", .veryLow),
            ("very high 2", .veryHigh), ("normal 2", .normal), ("high 1", .high),
        ]
        // An immediate task has submitted its work when it returns here.
        let tasks = jobs.map { name, priority in
            Task.immediate { try await executor.run(priority: priority) { order.update { $0.append(name) } } }
        }

        plug.open()
        for task in tasks { try await task.value }

        #expect(
            order.value == [
                "very high 1", "very high 2", "high 1", "normal 1", "normal 2", "low 1", "low 2", "very low 1",
            ])
    }

    @Test func `work canceled while it waits never runs, and its task continues at once`() async throws {
        let executor = BlockingExecutor(name: "test", maxConcurrent: 1)
        let plug = try await Plug(executor)
        let ran = Watched<[Int]>([])
        let tasks = (0..<10).map { number in
            Task.immediate { try await executor.run { ran.update { $0.append(number) } } }
        }

        for number in [0, 4, 9] {
            tasks[number].cancel()
            // The lane is still busy, so only the cancellation can end this.
            await #expect(throws: CancellationError.self) { try await tasks[number].value }
        }
        plug.open()
        for number in [1, 2, 3, 5, 6, 7, 8] { try await tasks[number].value }

        #expect(ran.value == [1, 2, 3, 5, 6, 7, 8])
    }

    @Test func `work that has begun completes`() async throws {
        let executor = BlockingExecutor(name: "test", maxConcurrent: 1)
        let plug = try await Plug(executor)
        plug.task.cancel()
        plug.open()
        try await plug.task.value
    }

    @Test func `a canceled task runs nothing`() async throws {
        let executor = BlockingExecutor(name: "test", maxConcurrent: 1)
        let runs = Watched(0)
        for _ in 0..<200 {
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await executor.run { runs.update { $0 += 1 } }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        // The only lane runs its work in order, so the earlier work has ended when this has.
        try await executor.run {}
        #expect(runs.value == 0)
    }

    @Test func `blocked lanes do not block the cooperative pool`() async throws {
        let executor = BlockingExecutor(name: "test", maxConcurrent: 16)
        let gate = DispatchSemaphore(value: 0)
        let running = Watched(0)
        let blocked = (0..<16).map { _ in
            Task {
                try await executor.run {
                    running.update { $0 += 1 }
                    gate.wait()
                }
            }
        }
        try await running.waitUntil { $0 == 16 }

        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 0..<100 { group.addTask { number } }
            return await group.reduce(0, +)
        }

        #expect(sum == 4950)
        for _ in blocked { gate.signal() }
        for task in blocked { try await task.value }
    }

    @Test func `every piece of work has one outcome, whenever it is canceled`() async throws {
        let executor = BlockingExecutor(name: "test", maxConcurrent: 2)
        let runs = Watched(0)
        let tasks = (0..<2000).map { number in
            let task = Task { try await executor.run { runs.update { $0 += 1 } } }
            if number % 2 == 0 { task.cancel() }
            return task
        }

        var finished = 0
        for (number, task) in tasks.enumerated() {
            if number % 4 == 1 { task.cancel() }
            do {
                try await task.value
                finished += 1
            } catch is CancellationError {
                #expect(number % 4 != 3)
            }
        }

        #expect(runs.value == finished)
        #expect(finished >= 500)
    }
}
