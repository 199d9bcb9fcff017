import AlcedoCore
import AlcedoRuntime
import AlcedoTesting
import Dispatch
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PriorityHandleTests {
    @Test func `observers are called for changes only`() async {
        let priority = PriorityHandle(.low)
        let seen = Watched<[LoadPriority]>([])
        await priority.observing {
            seen.update { $0.append(priority.value) }
        } _: {
            priority.value = .low
            priority.value = .high
            priority.value = .veryLow
        }
        priority.value = .normal
        #expect(seen.value == [.high, .veryLow])
        #expect(priority.value == .normal)
    }

    @Test func `the numbered change with the highest number stays, in any order`() {
        let priority = PriorityHandle(.normal)
        priority.set(.high, version: 2)
        priority.set(.low, version: 1)
        #expect(priority.value == .high)
        priority.set(.veryLow, version: 3)
        #expect(priority.value == .veryLow)
    }

    @Test func `work has the highest priority of its waiters`() async throws {
        let coalescer = Coalescer<String, Never, Int>()
        let live = Watched<PriorityHandle?>(nil)
        let isDone = Watched(false)
        func join(_ priority: PriorityHandle) -> Task<Int, any Error> {
            Task.immediate {
                try await coalescer.value(for: "a", priority: priority.level) { _, level, _ in
                    live.update { $0 = PriorityHandle(level: level) }
                    try await isDone.waitUntil { $0 }
                    return 1
                }
            }
        }
        let (first, second) = (PriorityHandle(.low), PriorityHandle(.high))
        let one = join(first)
        try await live.waitUntil { $0 != nil }
        #expect(live.value?.value == .low)

        let two = join(second)
        #expect(live.value?.value == .high)
        first.value = .veryHigh
        #expect(live.value?.value == .veryHigh)
        first.value = .veryLow
        #expect(live.value?.value == .high)
        two.cancel()
        await #expect(throws: CancellationError.self) { try await two.value }
        #expect(live.value?.value == .veryLow)

        isDone.update { $0 = true }
        #expect(try await one.value == 1)
    }

    @Test func `work that is shut down ends with the error, also for later waiters`() async throws {
        struct Closed: Error {}
        let coalescer = Coalescer<String, Never, Int>()
        let hasBegun = Watched(false)
        let waiting = Task {
            try await coalescer.value(for: "a") { _ in
                hasBegun.update { $0 = true }
                // Until it is canceled.
                try await hasBegun.waitUntil { !$0 }
                return 1
            }
        }
        try await hasBegun.waitUntil { $0 }

        await coalescer.shutDown(throwing: Closed())

        await #expect(throws: Closed.self) { try await waiting.value }
        await #expect(throws: Closed.self) { try await coalescer.value(for: "b") { _ in 1 } }
    }

    @Test func `waiting work changes its position when its priority changes`() async throws {
        let executor = BlockingExecutor(name: "alcedo.test", maxConcurrent: 1)
        let gate = DispatchSemaphore(value: 0)
        let order = Watched<[Int]>([])
        let blocking = Task.immediate { try await executor.run { gate.wait() } }
        let priorities = (0..<3).map { _ in PriorityHandle(.normal) }
        let tasks = priorities.enumerated().map { number, priority in
            Task.immediate { try await executor.run(priority: priority) { order.update { $0.append(number) } } }
        }
        priorities[2].value = .high
        priorities[0].value = .low
        gate.signal()
        try await blocking.value
        for task in tasks { try await task.value }
        #expect(order.value == [2, 1, 0])
    }

    @Test func `the waiter with the highest priority reserves bytes first`() async throws {
        let budget = ByteBudget(limit: 10)
        let order = Watched<[Int]>([])
        #expect(budget.reserveNow(10))
        let priorities = (0..<2).map { _ in PriorityHandle(.normal) }
        let tasks = priorities.enumerated().map { number, priority in
            Task.immediate {
                try await budget.withReservation(of: 10, priority: priority) { order.update { $0.append(number) } }
            }
        }
        priorities[1].value = .veryHigh
        budget.release(10)
        for task in tasks { try await task.value }
        #expect(order.value == [1, 0])
        #expect(budget.reservedByteCount == 0)
    }
}
