import AlcedoCore
import AlcedoRuntime

/// A pool of connections and threads that runs blocking calls to a server. After repeated failures, it sends no calls
/// for the retry delay.
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
        var options = options
        options.maxConcurrentConnections = max(1, options.maxConcurrentConnections)
        options.maximumFailureCount = max(1, options.maximumFailureCount)
        self.options = options
        self.clock = clock
        threads = BlockingExecutor(name: "alcedo.redis", maxConcurrent: options.maxConcurrentConnections)
        state = Locked(
            State(
                breaker: CircuitBreaker(
                    maximumFailureCount: options.maximumFailureCount, retryDelay: options.retryDelay),
                queue: CallQueue(threads: options.maxConcurrentConnections, maximumWait: options.responseTimeout)))
    }

    /// Whether the server is failing, so that no calls, or only trial calls, are sent.
    var isServerFailing: Bool { state.withLock { $0.breaker.isOpen } }

    /// Runs a call with a connection. Returns nil if the server is unavailable or rejects the command, or if the call
    /// would wait for a thread longer than the response timeout.
    ///
    /// - Parameter work: The call. It may run twice if a kept connection has ended meanwhile or replies late.
    /// - Throws: `CancellationError` if the task is canceled before the call begins.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable (RedisConnection) throws -> Value
    ) async throws -> Value? {
        let now = clock.uptime
        let admission = state.withLock { $0.breaker.rejectsCall(at: now) ? .rejected : $0.queue.enter() }
        return switch admission {
        case .immediate: try await onThread(work, repeatsIfLate: true)
        case .queued: try await onThreadInTime(work)
        case .rejected: nil
        }
    }

    /// Runs a call like ``run(_:)``, but also in a canceled task and without a limit on the wait for a thread. It is
    /// used for calls that must not be skipped under load. It also returns nil while no calls are sent to a failing
    /// server.
    func runToEnd<Value: Sendable>(_ work: @escaping @Sendable (RedisConnection) throws -> Value) async -> Value? {
        let now = clock.uptime
        let isRejected = state.withLock { state in
            guard !state.breaker.rejectsCall(at: now) else { return true }
            state.queue.enterUnconditionally()
            return false
        }
        return isRejected ? nil : await Task { try? await onThread(work, repeatsIfLate: false) }.value
    }

    private func onThread<Value: Sendable>(
        _ work: @escaping @Sendable (RedisConnection) throws -> Value, repeatsIfLate: Bool
    ) async throws -> Value? {
        do {
            return try await threads.run { self.attempt(work, repeatsIfLate: repeatsIfLate) }
        } catch {
            // The call was canceled before it began.
            state.withLock { $0.queue.leave() }
            throw error
        }
    }

    /// Runs a call like ``onThread(_:repeatsIfLate:)``. Returns nil if the call has not begun within the response
    /// timeout.
    private func onThreadInTime<Value: Sendable>(
        _ work: @escaping @Sendable (RedisConnection) throws -> Value
    ) async throws -> Value? {
        let call = Task { try await onThread(work, repeatsIfLate: true) }
        // Cancellation has no effect on work that has begun.
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

    /// Performs a call and returns its result. Returns nil if the call fails, or is not allowed because the server has
    /// failed while the call waited.
    ///
    /// With `repeatsIfLate`, a kept connection has less time to reply than a new one: a multiple of the usual time. A
    /// late reply would otherwise occupy its thread for the whole response timeout, and a few of them all threads.
    private func attempt<Value>(_ work: (RedisConnection) throws -> Value, repeatsIfLate: Bool) -> Value? {
        let start = clock.uptime
        guard state.withLock({ $0.breaker.allowsCall(at: start) }) else {
            state.withLock { $0.queue.leave() }
            return nil
        }
        defer {
            let time = clock.uptime - start
            state.withLock { $0.queue.leave(after: time) }
        }
        let (idle, patience) = state.withLock { ($0.idle.popLast(), $0.queue.patience) }
        if let idle {
            switch call(work, idle, for: repeatsIfLate ? patience : options.responseTimeout) {
            case .success(let value): return value
            case .failure(let failure) where failure.kind == .rejected: return nil
            // A server that does not respond in all this time would not respond on another connection either.
            case .failure(let failure) where failure.kind == .timeout && !repeatsIfLate:
                fail()
                return nil
            case .failure: break
            }
        }
        guard let new = try? RedisConnection(options) else {
            fail()
            return nil
        }
        switch call(work, new, for: options.responseTimeout) {
        case .success(let value): return value
        case .failure(let failure) where failure.kind == .rejected: return nil
        case .failure:
            fail()
            return nil
        }
    }

    private func fail() { state.withLock { $0.breaker.failed(at: clock.uptime) } }

    /// Performs a call and returns its result. Records a response, including a rejection, as a success of the server.
    /// Keeps the connection for later calls, unless it has failed or is in a transaction.
    ///
    /// - Parameters:
    ///   - work: The call.
    ///   - connection: The connection.
    ///   - responseTimeout: The maximum time to wait until the server accepts or sends the next bytes.
    private func call<Value>(
        _ work: (RedisConnection) throws -> Value, _ connection: RedisConnection, for responseTimeout: Duration
    ) -> Result<Value, RedisFailure> {
        connection.responseTimeout = max(.milliseconds(1), responseTimeout)
        let result: Result<Value, RedisFailure>
        do {
            result = .success(try work(connection))
        } catch let failure as RedisFailure {
            result = .failure(failure)
        } catch {
            result = .failure(RedisFailure(kind: .connection, message: "\(error)"))
        }
        if case .failure(let failure) = result, failure.kind != .rejected {
            // If a connection has ended, the other kept ones have probably ended as well.
            if failure.kind == .connection { state.withLock { $0.idle = [] } }
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

/// A circuit breaker that decides whether calls to a failing server are allowed. It only decides: it uses neither
/// threads nor clocks.
///
/// After a number of consecutive failures, no call is allowed for the retry delay. Then one trial call is allowed. If
/// it succeeds, all calls are allowed again. If it fails, the delay starts again.
struct CircuitBreaker: Sendable {
    private let maximumFailureCount: Int
    private let retryDelay: Duration
    private var failures = 0
    private var openUntil: Duration?
    private var isTrying = false

    init(maximumFailureCount: Int, retryDelay: Duration) {
        self.maximumFailureCount = maximumFailureCount
        self.retryDelay = retryDelay
    }

    /// Whether consecutive failures have reached the limit and no call has succeeded since.
    var isOpen: Bool { openUntil != nil }

    /// Returns whether ``allowsCall(at:)`` would return false. Unlike that method, does not change the state, so a
    /// caller that still has to wait for a thread may use it.
    func rejectsCall(at now: Duration) -> Bool {
        guard let openUntil else { return false }
        return now < openUntil || isTrying
    }

    /// Returns whether a call is allowed. The caller must be ready to send it, and then call ``succeeded()`` or
    /// ``failed(at:)``.
    ///
    /// - Parameter now: The uptime, which must not decrease between calls.
    mutating func allowsCall(at now: Duration) -> Bool {
        guard !rejectsCall(at: now) else { return false }
        isTrying = isOpen
        return true
    }

    mutating func succeeded() { (failures, openUntil, isTrying) = (0, nil, false) }

    mutating func failed(at now: Duration) {
        failures += 1
        isTrying = false
        if failures >= maximumFailureCount { openUntil = now + retryDelay }
    }
}

/// A queue that decides which calls wait for a thread and which fail immediately. Without it, an overloaded server
/// would delay all callers. It only decides: it uses neither threads nor clocks.
struct CallQueue: Sendable {
    /// The decision on a new call.
    enum Admission {
        /// A thread is free.
        case immediate
        /// The call waits for a thread.
        case queued
        /// The expected wait is too long.
        case rejected
    }

    /// The inverse weight of the last call in the moving average of call times.
    private static let weight = 4
    /// The least time after which a reply is late. Threads of a busy machine may wait as long for a processor.
    private static let minimumPatience = Duration.milliseconds(50)

    private let threads: Int
    private let maximumWait: Duration
    private var count = 0
    private var usualTime = Duration.zero
    /// The approximate median of call times. Unlike the average, it ignores a minority of late replies.
    private var medianTime = Duration.zero

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - threads: The maximum number of concurrent calls; values below 1 count as 1.
    ///   - maximumWait: The maximum expected time that a call may wait.
    init(threads: Int, maximumWait: Duration) {
        self.threads = max(1, threads)
        self.maximumWait = maximumWait
    }

    /// The time after which a reply is late: eight times the median, at least 50 milliseconds, at most the longest
    /// wait.
    var patience: Duration { min(maximumWait, max(Self.minimumPatience, medianTime * 8)) }

    /// Decides on a new call. Unless the call is rejected, ``leave(after:)`` must be called when it ends.
    mutating func enter() -> Admission {
        if count >= threads {
            guard usualTime * (count - threads + 1) / threads <= maximumWait else { return .rejected }
        }
        defer { count += 1 }
        return count < threads ? .immediate : .queued
    }

    /// Adds a call that waits without a limit. ``leave(after:)`` must be called when it ends.
    mutating func enterUnconditionally() { count += 1 }

    /// Removes a call that has ended.
    ///
    /// - Parameter time: The duration of the call; nil if the server was not called.
    mutating func leave(after time: Duration? = nil) {
        count -= 1
        guard let time = time.map({ min($0, maximumWait) }) else { return }
        // A long call with many parts counts no more than the longest admitted wait, because other calls are shorter.
        usualTime += (time - usualTime) / Self.weight
        let step = max(.milliseconds(1), medianTime / 8)
        medianTime = time > medianTime ? min(time, medianTime + step) : max(time, medianTime - step)
    }
}
