import AlcedoCore

/// Ends work whose time is up.
struct Deadline: Sendable {
    /// Zero or less is no limit.
    let limit: Duration?
    let time: any TimeSource
    /// What was to be done by then, as in "no answer within 5 seconds".
    let subject: String

    /// - Throws: ``HTTPTransportError`` `timedOut` after the limit, when the cancelled work has ended; or what `work`
    ///   throws.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard let limit, limit > .zero else { return try await work() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await work() }
            group.addTask { [time] in
                try await time.sleep(for: limit)
                return nil
            }
            if let value = try await group.next() ?? nil { return value }
            try Task.checkCancellation()
            throw HTTPTransportError(.timedOut, "\(subject) within \(limit)")
        }
    }
}
