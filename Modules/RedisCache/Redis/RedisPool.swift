import AlcedoCore

/// Runs calls to a server on threads that may block, with connections that are kept, and leaves a server alone that fails.
final class RedisPool: Sendable {
    private struct State: Sendable {
        var idle: [RedisConnection] = []
        var breaker: CircuitBreaker
    }

    private let options: RedisOptions
    private let clock: any TimeSource
    private let threads: BlockingExecutor
    private let state: Locked<State>

    init(_ options: RedisOptions, clock: any TimeSource) {
        self.options = options
        self.clock = clock
        threads = BlockingExecutor(name: "alcedo.redis", width: options.connections)
        state = Locked(
            State(breaker: CircuitBreaker(failureLimit: options.failureLimit, restTime: options.restTime)))
    }

    /// Runs `work` with a connection; nil when the server cannot be asked, or does not do it.
    ///
    /// - Parameter work: May run twice, where a connection that was kept has ended meanwhile.
    /// - Throws: `CancellationError`, when the task is cancelled while it waits for a thread.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable (RedisConnection) throws -> Value
    ) async throws -> Value? {
        guard mayAsk() else { return nil }
        do {
            return try await threads.run { self.attempt(work) }
        } catch {
            state.withLock { $0.breaker.gaveUp() }
            throw error
        }
    }

    /// As ``run(_:)``, to its end even when the task is cancelled.
    func runToEnd<Value: Sendable>(_ work: @escaping @Sendable (RedisConnection) throws -> Value) async -> Value? {
        await Task { try? await run(work) ?? nil }.value
    }

    private func mayAsk() -> Bool { state.withLock { $0.breaker.mayAsk(at: clock.uptime) } }

    private func attempt<Value>(_ work: (RedisConnection) throws -> Value) -> Value? {
        let kept = state.withLock { $0.idle.popLast() }
        if let kept {
            switch call(work, kept) {
            case .success(let value): return value
            case .failure(let failure) where failure.kind == .refused: return nil
            case .failure: break
            }
        }
        guard let new = try? RedisConnection(options) else {
            fail()
            return nil
        }
        switch call(work, new) {
        case .success(let value): return value
        case .failure(let failure) where failure.kind == .refused: return nil
        case .failure:
            fail()
            return nil
        }
    }

    private func fail() { state.withLock { $0.breaker.failed(at: clock.uptime) } }

    /// Keeps the connection unless it is of no use any more.
    private func call<Value>(
        _ work: (RedisConnection) throws -> Value, _ connection: RedisConnection
    ) -> Result<Value, RedisFailure> {
        let result: Result<Value, RedisFailure>
        do {
            result = .success(try work(connection))
        } catch let failure as RedisFailure {
            result = .failure(failure)
        } catch {
            result = .failure(RedisFailure(kind: .connection, message: "\(error)"))
        }
        if case .failure(let failure) = result, failure.kind == .connection {
            // Those that were kept beside it have ended with it.
            state.withLock { $0.idle = [] }
            return result
        }
        state.withLock { state in
            state.breaker.succeeded()
            if state.idle.count < options.connections { state.idle.append(connection) }
        }
        return result
    }
}
