import Testing

@testable import AlcedoTesting

@Suite(.timeLimit(.minutes(10))) struct WatchedTests {
    @Test func `every waiter wakes once, however updates and waits interleave`() async throws {
        let number = Watched(0)

        try await withThrowingTaskGroup(of: Void.self) { group in
            for goal in 1...200 { group.addTask { try await number.waitUntil { $0 >= goal } } }
            for _ in 1...200 { group.addTask { number.update { $0 += 1 } } }
            try await group.waitForAll()
        }

        #expect(number.value == 200)
    }

    @Test func `a condition may access the value's owner`() async throws {
        let number = Watched(0)
        let waiting = Task { try await number.waitUntil { _ in number.value > 0 } }

        number.update { $0 = 1 }

        try await waiting.value
    }

    @Test func `closing ends pending waits and not those that are met`() async throws {
        let number = Watched(1)

        number.close()

        try await number.waitUntil { $0 == 1 }
        await #expect(throws: CancellationError.self) { try await number.waitUntil { $0 == 2 } }
    }
}
