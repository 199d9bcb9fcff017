import Alcedo

/// All requests that are not over.
final class ExchangeTable: Sendable {
    private struct State: Sendable {
        var exchanges: [UInt64: Exchange] = [:]
        var lastNumber: UInt64 = 0
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

    func remove(_ exchange: Exchange) { state.withLock { $0.exchanges[exchange.number] = nil } }
}
