/// The longest time that a request may take.
struct TimeLimit: Sendable {
    let limit: Duration

    /// - Throws: ``Refusal`` 504 after the limit, when the cancelled work has ended; or what `work` throws.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await work() }
            group.addTask { [limit] in
                try await Task.sleep(for: limit)
                return nil
            }
            if let value = try await group.next() ?? nil { return value }
            throw Refusal(504, "the picture is not there in time")
        }
    }
}
