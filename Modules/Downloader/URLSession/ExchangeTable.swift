import AlcedoCore

/// The exchanges that run, by the session's task numbers.
final class ExchangeTable: Sendable {
    private struct State {
        var exchanges: [Int: Exchange] = [:]
        var isClosed = false
    }

    private let state = Locked(State())

    var all: [Exchange] { state.withLock { Array($0.exchanges.values) } }

    /// Whether no more exchanges may begin.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    subscript(task: Int) -> Exchange? { state.withLock { $0.exchanges[task] } }

    func add(_ exchange: Exchange, _ task: Int) { state.withLock { $0.exchanges[task] = exchange } }

    func remove(_ task: Int) -> Exchange? { state.withLock { $0.exchanges.removeValue(forKey: task) } }

    /// Returns whether it was open until now.
    func close() -> Bool {
        state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
    }
}
