extension TimeSource {
    /// Returns the value of `body`. When the time is over, cancels `body`, waits for its end and throws `error`.
    ///
    /// - Parameters:
    ///   - timeout: The maximum duration of `body`, or nil for no limit.
    ///   - error: The error after the timeout.
    ///   - body: The work. It ends early when its task is canceled.
    /// - Throws: `error`, the error of `body`, or `CancellationError`.
    package func limit<Value: Sendable>(
        _ timeout: Duration?, throwing error: any Error, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let timeout else { return try await body() }
        return try await withThrowingTaskGroup(of: Value.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await body() }
            group.addTask {
                try await sleep(for: timeout)
                throw error
            }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}
