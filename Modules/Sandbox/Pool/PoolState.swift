#if Sandbox
    import AlcedoCore
    import Dispatch

    /// The state that decides which caller gets which worker. It only makes decisions; the pool acts on them outside
    /// its lock.
    struct PoolState: Sendable {
        /// The result of a request for a worker.
        enum Admission {
            case worker(WorkerProcess)
            /// The caller waits; if `startsWorker` is true, it starts another worker first. At most `rounds` times, all
            /// workers serve one request each before it is the caller's turn.
            case wait(startsWorker: Bool, rounds: Int)
            case shutDown
        }

        /// The next use of a worker that a caller returns.
        enum Return {
            case hand(to: Waiter)
            case keep
            /// The sandbox is shut down.
            case end
        }

        let maximumCount: Int
        var statistics = SandboxStatistics()
        private var idle: [WorkerProcess] = []
        private var waiters: [Waiter] = []
        /// The number of workers that exist or are being started.
        private var count = 0
        private var isShutDown = false

        init(maximumCount: Int) { self.maximumCount = max(1, maximumCount) }

        /// Takes the preferred worker if it is idle, or else the one that was used last, whose memory is warm.
        mutating func admit(_ waiter: Waiter, preferring id: Int?) -> Admission {
            guard !isShutDown else { return .shutDown }
            if let index = idle.firstIndex(where: { $0.id == id }) { return .worker(idle.remove(at: index)) }
            if let last = idle.popLast() { return .worker(last) }
            waiters.append(waiter)
            return .wait(startsWorker: reserve(), rounds: (waiters.count - 1) / maximumCount + 1)
        }

        /// Removes a waiter. Returns false if its outcome is already on the way.
        mutating func abandon(_ waiter: Waiter) -> Bool {
            guard let index = waiters.firstIndex(where: { $0 === waiter }) else { return false }
            waiters.remove(at: index)
            return true
        }

        /// Counts one more worker, which the caller starts. Returns false if there are enough.
        mutating func reserve() -> Bool {
            guard !isShutDown, count < maximumCount else { return false }
            count += 1
            return true
        }

        mutating func add(_ worker: WorkerProcess) -> Return {
            guard !isShutDown else { return .end }
            if !waiters.isEmpty { return .hand(to: waiters.removeFirst()) }
            idle.append(worker)
            return .keep
        }

        /// Removes and counts the idle workers whose process has ended, and returns them. Does not block.
        mutating func removeEnded() -> [WorkerProcess] {
            let ended = idle.filter(\.hasEnded)
            idle.removeAll { worker in ended.contains { $0 === worker } }
            statistics.lostWorkers += ended.count
            return ended
        }

        /// Records that a worker has ended or could not be started. Returns the waiters that no worker will serve.
        mutating func remove() -> [Waiter] {
            count -= 1
            guard count == 0 else { return [] }
            defer { waiters = [] }
            return waiters
        }

        /// Returns the idle workers, which the caller ends, and all waiters.
        mutating func shutDown() -> (workers: [WorkerProcess], waiters: [Waiter]) {
            isShutDown = true
            count -= idle.count
            defer { (idle, waiters) = ([], []) }
            return (idle, waiters)
        }

        var isStopped: Bool { isShutDown }
    }

    /// A thread that waits for a worker.
    ///
    /// `@unchecked` because of the outcome, which is written once before the semaphore is signaled and read after that.
    final class Waiter: @unchecked Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        private var outcome: Result<WorkerProcess, ImageDecodingError>?

        func resume(_ outcome: Result<WorkerProcess, ImageDecodingError>) {
            self.outcome = outcome
            semaphore.signal()
        }

        /// Waits for the outcome. Returns nil if it does not arrive within the time limit; without one, waits until it
        /// arrives.
        func wait(within limit: Duration? = nil) -> Result<WorkerProcess, ImageDecodingError>? {
            guard let limit else {
                semaphore.wait()
                return outcome
            }
            // A year at most, because longer times could overflow.
            let (seconds, attoseconds) = min(max(limit, .zero), .seconds(31_536_000)).components
            let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
            return semaphore.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success ? outcome : nil
        }
    }
#endif
