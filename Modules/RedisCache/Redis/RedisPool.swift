import AlcedoCore
import AlcedoRuntime

/// Runs calls to a server on threads that may block, with connections that are kept, and leaves a server alone that fails.
final class RedisPool: Sendable {
    private struct State: Sendable {
        var idle: [RedisConnection] = []
        var breaker: CircuitBreaker
        var queue: CallQueue
    }

    private let options: RedisOptions
    private let clock: any TimeSource
    private let threads: BlockingExecutor
    private let state: Locked<State>

    init(_ options: RedisOptions, clock: any TimeSource) {
        self.options = options
        self.clock = clock
        threads = BlockingExecutor(name: "alcedo.redis", width: options.maxConcurrentConnections)
        state = Locked(
            State(
                breaker: CircuitBreaker(failureLimit: options.failureLimit, retryDelay: options.retryDelay),
                queue: CallQueue(threads: options.maxConcurrentConnections, maximumWait: options.responseTimeout)))
    }

    /// Whether the server is left alone, or tried again, because it failed.
    var isServerFailing: Bool { state.withLock { $0.breaker.isOpen } }

    /// Runs `work` with a connection; nil when the server cannot be asked, or does not do it, or when the call would wait
    /// for a thread longer than for an answer.
    ///
    /// - Parameter work: May run twice, where a connection that was kept has ended meanwhile.
    /// - Throws: `CancellationError`, when the task is cancelled while it waits for a thread.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable (RedisConnection) throws -> Value
    ) async throws -> Value? {
        let now = clock.uptime
        let admission = state.withLock { $0.breaker.rejectsCall(at: now) ? .rejected : $0.queue.enter() }
        return switch admission {
        case .immediate: try await onThread(work)
        case .queued: try await onThreadInTime(work)
        case .rejected: nil
        }
    }

    /// As ``run(_:)``, to its end even when the task is cancelled, and however long it waits for a thread: for what must
    /// not be left out because many read. A server that fails is not waited for here either.
    func runToEnd<Value: Sendable>(_ work: @escaping @Sendable (RedisConnection) throws -> Value) async -> Value? {
        let now = clock.uptime
        let isRejected = state.withLock { state in
            guard !state.breaker.rejectsCall(at: now) else { return true }
            state.queue.enterUnconditionally()
            return false
        }
        return isRejected ? nil : await Task { try? await onThread(work) }.value
    }

    private func onThread<Value: Sendable>(
        _ work: @escaping @Sendable (RedisConnection) throws -> Value
    ) async throws -> Value? {
        do {
            return try await threads.run { self.attempt(work) }
        } catch {
            // It was cancelled before it began.
            state.withLock { $0.queue.leave() }
            throw error
        }
    }

    /// As ``onThread(_:)``; nil when the call has not begun after the time of an answer.
    private func onThreadInTime<Value: Sendable>(
        _ work: @escaping @Sendable (RedisConnection) throws -> Value
    ) async throws -> Value? {
        let call = Task { try await onThread(work) }
        // Work that has begun does not notice.
        let limit = Task {
            try await clock.sleep(for: options.responseTimeout)
            call.cancel()
        }
        defer { limit.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await call.value
            } onCancel: {
                call.cancel()
            }
        } catch {
            try Task.checkCancellation()
            return nil
        }
    }

    /// Asks the server, unless it has failed while the call waited.
    private func attempt<Value>(_ work: (RedisConnection) throws -> Value) -> Value? {
        let start = clock.uptime
        guard state.withLock({ $0.breaker.allowsCall(at: start) }) else {
            state.withLock { $0.queue.leave() }
            return nil
        }
        defer {
            let time = clock.uptime - start
            state.withLock { $0.queue.leave(after: time) }
        }
        let idle = state.withLock { $0.idle.popLast() }
        if let idle {
            switch call(work, idle) {
            case .success(let value): return value
            case .failure(let failure) where failure.kind == .rejected: return nil
            // One that hangs would not answer another connection either.
            case .failure(let failure) where failure.kind == .timeout:
                fail()
                return nil
            case .failure: break
            }
        }
        guard let new = try? RedisConnection(options) else {
            fail()
            return nil
        }
        switch call(work, new) {
        case .success(let value): return value
        case .failure(let failure) where failure.kind == .rejected: return nil
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
        if case .failure(let failure) = result, failure.kind != .rejected {
            // Those that were kept beside it have ended with it.
            state.withLock { $0.idle = [] }
            return result
        }
        state.withLock { state in
            state.breaker.succeeded()
            if state.idle.count < options.maxConcurrentConnections, !connection.isInTransaction {
                state.idle.append(connection)
            }
        }
        return result
    }
}

/// Decides whether a server that fails is asked again. Decides only: it knows neither threads nor clocks.
///
/// After a number of failures in a row nobody asks for a while; then one may, and the others when that one was answered.
struct CircuitBreaker: Sendable {
    private let failureLimit: Int
    private let retryDelay: Duration
    private var failures = 0
    private var openUntil: Duration?
    private var isTrying = false

    init(failureLimit: Int, retryDelay: Duration) {
        self.failureLimit = failureLimit
        self.retryDelay = retryDelay
    }

    /// Whether the last answers failed, and none has come since.
    var isOpen: Bool { openUntil != nil }

    /// Whether ``allowsCall(at:)`` would return false. Changes nothing, so that a waiting caller may use it.
    func rejectsCall(at now: Duration) -> Bool {
        guard let openUntil else { return false }
        return now < openUntil || isTrying
    }

    /// Call this when all else is ready: a caller that is allowed calls the server, and then ``succeeded()`` or ``failed(at:)``.
    ///
    /// - Parameter now: Never goes back.
    mutating func allowsCall(at now: Duration) -> Bool {
        guard !rejectsCall(at: now) else { return false }
        isTrying = isOpen
        return true
    }

    mutating func succeeded() { (failures, openUntil, isTrying) = (0, nil, false) }

    mutating func failed(at now: Duration) {
        failures += 1
        isTrying = false
        if failures >= failureLimit { openUntil = now + retryDelay }
    }
}

/// Decides which calls wait for a thread, and which had better be misses at once: a server that answers, but more slowly
/// than it is asked, would make all wait. Decides only: it knows neither threads nor clocks.
struct CallQueue: Sendable {
    /// Whether a call may run.
    enum Admission {
        /// A thread is free.
        case immediate
        /// It waits.
        case queued
        /// It would wait for too long.
        case rejected
    }

    /// The last call makes a quarter of the usual time of one.
    private static let weight = 4

    private let threads: Int
    private let maximumWait: Duration
    private var count = 0
    private var usualTime = Duration.zero

    /// - Parameters:
    ///   - threads: How many calls are under way at most; values below 1 count as 1.
    ///   - maximumWait: The longest a call may be expected to wait.
    init(threads: Int, maximumWait: Duration) {
        self.threads = max(1, threads)
        self.maximumWait = maximumWait
    }

    /// To be asked for each call; one that has a place is to leave it.
    mutating func enter() -> Admission {
        if count >= threads {
            guard usualTime * (count - threads + 1) / threads <= maximumWait else { return .rejected }
        }
        defer { count += 1 }
        return count < threads ? .immediate : .queued
    }

    /// For a call that waits as long as it takes. It is to leave, too.
    mutating func enterUnconditionally() { count += 1 }

    /// - Parameter time: How long the server was asked; nil when it was not.
    mutating func leave(after time: Duration? = nil) {
        count -= 1
        // A call of many parts is not what the others wait for, so that it counts no more than one that just comes through.
        if let time { usualTime += (min(time, maximumWait) - usualTime) / Self.weight }
    }
}
