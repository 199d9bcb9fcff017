import Synchronization

/// A value that tests note things in from any thread.
final class Locked<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value { state.withLock { $0 } }

    @discardableResult
    func change<Result: Sendable>(_ change: (inout Value) -> Result) -> Result { state.withLock { change(&$0) } }
}
