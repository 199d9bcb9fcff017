import AlcedoCore
import AlcedoRuntime

/// A value that tests and fakes note things in from any thread.
package final class Guarded<Value: Sendable>: Sendable {
    private let state: Locked<Value>

    package init(_ value: Value) { state = Locked(value) }

    package var value: Value { state.withLock { $0 } }

    @discardableResult
    package func change<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        state.withLock { change(&$0) }
    }
}
