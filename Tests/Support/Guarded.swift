import AlcedoTesting

/// A value that tests and fakes change from any thread, and for whose changes tests can wait.
package struct Guarded<Value: Sendable>: Sendable {
    private let watched: Watched<Value>

    package init(_ value: Value) { watched = Watched(value) }

    package var value: Value { watched.value }

    /// Changes the value, then resumes the waiters whose condition it meets.
    @discardableResult
    package func change<Result: Sendable>(_ change: (inout Value) -> Result) -> Result { watched.update(change) }

    /// Returns once the value meets a condition, now or after a change. Throws `CancellationError` if the task is
    /// cancelled first.
    package func wait(until isMet: @escaping @Sendable (Value) -> Bool) async throws {
        try await watched.waitUntil(isMet)
    }
}
