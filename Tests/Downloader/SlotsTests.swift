import AlcedoCore
import TestSupport
import Testing

@testable import AlcedoDownloader

@Suite(.timeLimit(.minutes(3)))
struct SlotsTests {
    private let slots = Slots(count: 1)
    private let order = Guarded<[String]>([])

    /// A task that waits for a slot, notes its name and gives the slot back. It stands in the line when this returns.
    private func wait(_ name: String, _ priority: LoadPriority = .normal) -> Task<Void, any Error> {
        Task.immediate {
            try await slots.acquire(priority)
            order.change { $0.append(name) }
            slots.release()
        }
    }

    @Test func `the more urgent goes first, equals in the order they came`() async throws {
        try await slots.acquire(.normal)
        let tasks = [
            wait("low 1", .low), wait("normal 1"), wait("high", .high), wait("normal 2"), wait("low 2", .low),
            wait("very high", .veryHigh),
        ]
        #expect(order.value.isEmpty)

        slots.release()
        for task in tasks { try await task.value }

        #expect(order.value == ["very high", "high", "normal 1", "normal 2", "low 1", "low 2"])
    }

    @Test func `one who leaves the line takes nobody's turn`() async throws {
        try await slots.acquire(.normal)
        let tasks = [wait("a"), wait("b"), wait("c")]

        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        slots.release()
        try await tasks[0].value
        try await tasks[2].value

        #expect(order.value == ["a", "c"])
    }

    @Test func `a slot that nobody waits for is kept for the next`() async throws {
        try await slots.acquire(.normal)
        slots.release()
        try await wait("a").value
        try await wait("b").value
        #expect(order.value == ["a", "b"])
    }

    @Test func `no slot is lost or doubled, whoever leaves when`() async throws {
        let slots = Slots(count: 3)
        let counts = Guarded((running: 0, most: 0))
        let tasks = (0..<2000).map { number in
            let task = Task {
                try await slots.acquire(number % 2 == 0 ? .normal : .high)
                defer { slots.release() }
                counts.change {
                    $0.running += 1
                    $0.most = max($0.most, $0.running)
                }
                await Task.yield()
                counts.change { $0.running -= 1 }
            }
            if number % 3 == 0 { task.cancel() }
            return task
        }
        for (number, task) in tasks.enumerated() {
            if number % 3 == 1 { task.cancel() }
            _ = await task.result
        }
        #expect(counts.value.most <= 3)

        // All three are free: three at once get one without anybody giving one back.
        for _ in 0..<3 { try await slots.acquire(.normal) }
    }
}
