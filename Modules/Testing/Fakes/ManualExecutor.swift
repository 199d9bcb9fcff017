import AlcedoLibc

/// A task executor whose jobs wait until a test runs them.
///
/// Tasks that prefer this executor make progress only while a test drains it. After ``drain()`` no job is left, so a
/// test can then verify that something did not happen:
///
/// ```swift
/// import AlcedoTesting
/// import Synchronization
/// import Testing
///
/// let executor = ManualExecutor()
/// let isDone = Mutex(false)
/// Task(executorPreference: executor) { isDone.withLock { $0 = true } }
///
/// #expect(isDone.withLock { $0 } == false)
/// executor.drain()
/// #expect(isDone.withLock { $0 })
/// ```
///
/// Pass it to a configuration, such as `ImagePipeline.Configuration.taskExecutor`: an unstructured `Task { }` does not
/// inherit it. Jobs run one at a time, in the order in which they were enqueued, except that a job that calls
/// ``drain()`` runs others inside it. Calls may come from any thread.
///
/// - Important: The executor does not track work outside it: threads for blocking calls, actors with their own
///   executor, sleeping on a real clock, sockets. Such work ends by enqueuing a job here, at a time that the test does
///   not control. Wait for it with ``drain(until:)``. A ``ManualClock`` keeps sleepers out of the queue until it is
///   advanced or their task is canceled.
public final class ManualExecutor: TaskExecutor {
    private let jobs = Watched<[UnownedJob]>([])
    /// The lock that is held while a job runs.
    private let lock = RecursiveLock()

    /// Creates an executor without jobs.
    public init() {}

    /// The number of jobs that wait to run.
    package var jobCount: Int { jobs.value.count }

    /// Adds a job, which runs in the current drain or in the next one. The Swift runtime calls this method.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.update { $0.append(job) }
    }

    /// Runs the waiting jobs, and the jobs that they enqueue, on the calling thread until none is left.
    ///
    /// If another thread drains at the same time, the two share the jobs, and this method returns when no job waits and
    /// the other thread runs none. A job may call this method too. The waiting jobs then run inside that job. A job
    /// that blocks its thread blocks the drain.
    ///
    /// - Returns: The number of jobs that this call ran.
    @discardableResult
    public func drain() -> Int {
        var count = 0
        while runNext() { count += 1 }
        return count
    }

    /// Runs jobs as they are enqueued until `event` returns or throws, then drains the rest.
    ///
    /// Use this method to await a task of the executor, or an event that needs work outside the executor:
    ///
    /// ```swift
    /// let image = try await executor.drain { try await load.value }
    /// ```
    ///
    /// - Parameter event: The event to wait for. It runs in the calling task and must not depend on jobs that another
    ///   executor holds back.
    /// - Returns: The value of `event`.
    /// - Throws: The error of `event`.
    public nonisolated(nonsending) func drain<Value>(until event: () async throws -> Value) async rethrows -> Value {
        let pump = Task { [self] in
            while (try? await waitForJobs()) != nil { drain() }
        }
        do {
            let value = try await event()
            await end(pump)
            return value
        } catch {
            await end(pump)
            throw error
        }
    }

    /// Returns once at least `count` jobs wait to run.
    ///
    /// - Throws: `CancellationError` when the call must wait and the task is canceled.
    package func waitForJobs(count: Int = 1) async throws {
        try await jobs.waitUntil { $0.count >= count }
    }

    private nonisolated(nonsending) func end(_ pump: Task<Void, Never>) async {
        pump.cancel()
        await pump.value
        drain()
    }

    /// Runs the first job. Returns false if no job waits. Blocks while another thread runs a job.
    private func runNext() -> Bool {
        lock.lock()
        defer { lock.unlock() }
        guard let job = jobs.update({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
        job.runSynchronously(on: asUnownedTaskExecutor())
        return true
    }
}

/// A recursive lock. It replaces `Locked`, which is not recursive, because a job may drain the executor that runs it.
///
/// `@unchecked` because of the pointer to a lock of the system's library. The pointer never changes.
private final class RecursiveLock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() {
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }

    func unlock() { pthread_mutex_unlock(mutex) }
}
