import Testing

@testable import AlcedoRuntime

@Suite struct ByteBudgetStateTests {
    private func waiter(_ id: Int, _ byteCount: Int, of group: String? = nil) -> ByteBudgetState.Waiter {
        ByteBudgetState.Waiter(id: id, byteCount: byteCount, group: group) { _ in }
    }

    @Test func `higher priorities are admitted first, equals in order of arrival`() {
        var state = ByteBudgetState(limit: 10)
        _ = state.tryReserve(10, priority: 0)
        let order: [Int] = [-1, 0, 2, -1, -2, 2, 1]
        for (id, priority) in order.enumerated() { state.wait(waiter(id, 10), priority: priority) }

        var admitted: [Int] = []
        for _ in order { admitted += state.release(10).map(\.id) }

        #expect(admitted == [2, 5, 6, 1, 0, 3, 4])
    }

    @Test func `one release admits all waiters that fit, up to the first that does not`() {
        var state = ByteBudgetState(limit: 10)
        _ = state.tryReserve(10, priority: 0)
        for (id, byteCount) in [3, 4, 5, 1].enumerated() { state.wait(waiter(id, byteCount), priority: 0) }

        let first = state.release(10).map(\.id)
        #expect(first == [0, 1])
        #expect(state.reserved == 7)
        #expect(state.reservationCount == 2)
        let second = state.release(3).map(\.id)
        #expect(second == [2, 3])
        #expect(state.reserved == 10)
        #expect(state.reservationCount == 3)
    }

    @Test func `an urgent waiter that does not fit holds back lower priorities`() {
        var state = ByteBudgetState(limit: 10)
        _ = state.tryReserve(6, priority: 0)
        state.wait(waiter(1, 8), priority: 1)
        state.wait(waiter(2, 1), priority: -1)

        let change = state.remove(1)

        #expect(change?.removed.id == 1)
        #expect(change?.admitted.map(\.id) == [2])
        let isRemoved = state.remove(1) == nil && state.remove(2) == nil
        #expect(isRemoved)
        #expect(state.reserved == 7)
    }

    @Test func `a waiter whose group has a reservation holds back its group and no other`() {
        var state = ByteBudgetState(limit: 10)
        _ = state.tryReserve(6, priority: 0, group: "a")
        state.wait(waiter(1, 8, of: "a"), priority: 0)

        let isReserved = (
            state.tryReserve(1, priority: 0, group: "a") != nil, state.tryReserve(1, priority: 0) != nil,
            state.tryReserve(2, priority: 0, group: "b") != nil
        )
        #expect(isReserved == (false, true, true))

        // The group has no reservation any more, so its waiter goes before further ones of the other group.
        let early = state.release(6, group: "a").map(\.id)
        let isOvertaken = state.tryReserve(1, priority: 0, group: "b") != nil
        let admitted = state.release(2, group: "b").map(\.id)
        #expect(early == [])
        #expect(!isOvertaken)
        #expect(admitted == [1])
    }

    @Test func `a reservation of the group of the first waiter admits the waiters of other groups`() {
        var state = ByteBudgetState(limit: 10)
        _ = state.tryReserve(4, priority: 0)
        state.wait(waiter(1, 8, of: "a"), priority: 0)
        state.wait(waiter(2, 2, of: "b"), priority: 0)
        state.wait(waiter(3, 2, of: "c"), priority: 0)

        let admitted = state.tryReserve(1, priority: 1, group: "a")?.map(\.id)

        #expect(admitted == [2, 3])
        #expect(state.reserved == 9)
    }

    @Test func `an unconditional reservation of the group of the first waiter admits the waiters of other groups`() {
        var state = ByteBudgetState(limit: 10)
        _ = state.tryReserve(4, priority: 0)
        state.wait(waiter(1, 8, of: "a"), priority: 0)
        state.wait(waiter(2, 2, of: "b"), priority: 0)

        let admitted = state.reserveUnconditionally(3, group: "a").map(\.id)

        #expect(admitted == [2])
    }

    @Test func `a group with the maximum number of reservations waits without delaying others`() {
        var state = ByteBudgetState(limit: 10, groupShare: .init(maxReservations: 2))
        let isReserved = (0..<3).map { _ in state.tryReserve(1, priority: 0, group: "a") != nil }
        #expect(isReserved == [true, true, false])
        state.wait(waiter(1, 1, of: "a"), priority: 1)
        state.wait(waiter(2, 1, of: "a"), priority: 1)

        let others = (
            state.tryReserve(1, priority: 0, group: "b") != nil, state.tryReserve(1, priority: 0) != nil,
            state.tryReserve(1, priority: 2, group: "a") != nil
        )
        #expect(others == (true, true, false))

        let admitted = state.release(1, group: "a").map(\.id)
        #expect(admitted == [1])
    }

    @Test func `a group with a reservation leaves bytes to others`() {
        var state = ByteBudgetState(limit: 100, groupShare: .init(spareByteCount: 25))
        let isReserved = (
            state.tryReserve(90, priority: 0, group: "a") != nil, state.tryReserve(1, priority: 0, group: "a") != nil,
            state.tryReserve(10, priority: 0, group: "b") != nil
        )
        #expect(isReserved == (true, false, true))
        state.wait(waiter(1, 65, of: "b"), priority: 0)

        let admitted = state.release(90, group: "a").map(\.id)
        #expect(admitted == [1])

        // The last reservation of a group leaves none, so that its waiter may use the whole budget.
        state.wait(waiter(2, 100, of: "b"), priority: 0)
        let early = state.release(10, group: "b").map(\.id)
        let late = state.release(65, group: "b").map(\.id)
        #expect(early == [])
        #expect(late == [2])
    }

    @Test func `removing a waiter that blocks no others admits none`() {
        var state = ByteBudgetState(limit: 10)
        _ = state.tryReserve(6, priority: 0)
        state.wait(waiter(1, 8), priority: 0)
        state.wait(waiter(2, 1), priority: 0)

        let change = state.remove(2)

        #expect(change?.admitted.isEmpty == true)
        #expect(state.reserved == 6)
        #expect(state.reservationCount == 1)
    }
}
