import Alcedo

/// All requests that are not over.
final class ExchangeTable: Sendable {
    private struct State: Sendable {
        var exchanges: [UInt64: Exchange] = [:]
        var lastNumber: UInt64 = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    /// A number that no other request has, and that is not 0.
    func makeNumber() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    subscript(number: UInt64) -> Exchange? { state.withLock { $0.exchanges[number] } }

    var all: [Exchange] { state.withLock { Array($0.exchanges.values) } }

    func add(_ exchange: Exchange) { state.withLock { $0.exchanges[exchange.number] = exchange } }

    func remove(_ exchange: Exchange) {
        let waiters = state.withLock { state in
            state.exchanges[exchange.number] = nil
            return state.exchanges.isEmpty ? Self.takeWaiters(&state) : []
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when there is none, or the time is up.
    func waitUntilEmpty(for limit: Duration) async {
        let alarm = Task {
            try? await Task.sleep(for: limit)
            for waiter in state.withLock({ Self.takeWaiters(&$0) }) { waiter.resume() }
        }
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                if !state.exchanges.isEmpty { state.waiters.append(continuation) }
                return state.exchanges.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
        alarm.cancel()
    }

    private static func takeWaiters(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        defer { state.waiters = [] }
        return state.waiters
    }
}
