#if Sandbox
    import AlcedoCore
    import AlcedoRuntime
    import Dispatch
    import Synchronization

    /// The workers of a sandbox. Starts them ahead, hands each to one caller at a time, and replaces those that fail.
    final class WorkerPool: Sendable {
        let configuration: SandboxConfiguration
        private let state: Locked<PoolState>
        private let lastID = Atomic(0)
        /// Starts and ends workers, which blocks for some milliseconds.
        private let queue = DispatchQueue(label: "alcedo.sandbox", attributes: .concurrent)
        private let background = Background()

        init(_ configuration: SandboxConfiguration) {
            self.configuration = configuration
            state = Locked(PoolState(maximumCount: configuration.workerCount))
        }

        /// The counts so far, including idle workers that have ended. These are replaced.
        var statistics: SandboxStatistics {
            replaceEnded()
            return state.withLock { $0.statistics }
        }

        /// Starts one worker and returns its confinement, then starts the others without waiting for them.
        func startAll() throws(SandboxError) -> Confinement {
            guard state.withLock({ $0.reserve() }) else { return Confinement() }
            let worker: WorkerProcess
            do throws(SandboxError) {
                worker = try makeWorker()
            } catch {
                _ = state.withLock { $0.remove() }
                throw error
            }
            put(worker)
            while state.withLock({ $0.reserve() }) { startLater() }
            return worker.confinement
        }

        /// Calls `body` with a worker for one request, as ``WorkerLease/withWorker(preferring:begin:_:)`` does.
        func withWorker<Result>(preferring id: Int? = nil, _ body: (WorkerProcess) throws -> Result) throws -> Result {
            let lease = WorkerLease(of: self)
            defer { lease.end() }
            return try lease.withWorker(preferring: id, body)
        }

        func countRequest() { state.withLock { $0.statistics.requests += 1 } }

        /// Ends all idle workers and waits for their end. Workers in use end when their request ends.
        func shutDown() {
            let (workers, waiters) = state.withLock { $0.shutDown() }
            for waiter in waiters { waiter.resume(.failure(Self.isShutDown)) }
            for worker in workers { worker.end() }
            background.group.wait()
        }

        /// Shuts the pool down without waiting.
        func shutDownLater() { queue.async { self.shutDown() } }

        // MARK: Workers

        private static var isShutDown: ImageDecodingError {
            ImageDecodingError(.decoderUnavailable, "sandbox: the sandbox is shut down")
        }

        /// Returns a worker, which the caller gives back, recycles or discards. Waits if all are in use.
        func take(preferring id: Int?) throws(ImageDecodingError) -> WorkerProcess {
            let waiter = Waiter()
            switch state.withLock({ $0.admit(waiter, preferring: id) }) {
            case .worker(let worker): return worker
            case .shutDown: throw Self.isShutDown
            case .wait(let startsWorker, let rounds):
                if startsWorker { startLater() }
                return try wait(waiter, rounds: rounds)
            }
        }

        /// Waits as long as the requests before this one can take, including the start of new workers. Only consumers
        /// of rows can use a worker for longer. Ends early when the work of the thread is canceled.
        private func wait(_ waiter: Waiter, rounds: Int) throws(ImageDecodingError) -> WorkerProcess {
            let round = max(configuration.timeLimit, .zero) + configuration.startLimit
            // Durations of many years could overflow.
            let limit = min(round, .seconds(31_536_000)) * min(rounds, 1_000)
            var left = limit
            while left > .zero, !BlockingExecutor.isWorkCanceled {
                let step = min(left, .milliseconds(WorkerFiles.checkInterval))
                if let outcome = waiter.wait(within: step) { return try outcome.get() }
                left -= step
            }
            // If the waiter is no longer in the list, another thread is about to resume it.
            if !state.withLock({ $0.abandon(waiter) }), let outcome = waiter.wait() { return try outcome.get() }
            guard left <= .zero else { throw ImageDecodingError.canceled("sandbox") }
            throw ImageDecodingError(.decoderUnavailable, "sandbox: no worker became idle within \(limit)")
        }

        func giveBack(_ worker: WorkerProcess) {
            guard worker.isWorn else {
                worker.releaseLargeOutput()
                return put(worker)
            }
            recycle(worker)
        }

        /// Ends a worker that is not used any longer, and starts another one.
        func recycle(_ worker: WorkerProcess) {
            state.withLock { $0.statistics.recycledWorkers += 1 }
            replaceLater(worker)
        }

        private func put(_ worker: WorkerProcess) {
            switch state.withLock({ $0.add(worker) }) {
            case .hand(let waiter): waiter.resume(.success(worker))
            case .keep: break
            case .end:
                worker.end()
                fail(state.withLock { $0.remove() }, Self.isShutDown)
            }
        }

        /// Ends a failed worker, counts the failure and starts another worker. Returns the error of the image.
        func discard(_ worker: WorkerProcess, _ failure: WorkerFailure) -> ImageDecodingError {
            let end = worker.end(within: failure.endLimit)
            let outcome = failure.outcome(end: end, configuration)
            state.withLock { state in
                if case .lost = failure {
                    state.statistics.lostWorkers += 1
                } else if let kind = outcome.kind {
                    state.statistics.count(kind)
                } else {
                    state.statistics.recycledWorkers += 1
                }
            }
            queue.async(group: background.group) { self.replace() }
            return outcome.error
        }

        private func startLater() { queue.async(group: background.group) { self.start() } }

        private func replaceLater(_ worker: WorkerProcess) {
            queue.async(group: background.group) {
                worker.end()
                self.replace()
            }
        }

        /// Replaces the idle workers that have ended, for example because the kernel has killed them. Requests prefer
        /// the worker that was used last, so others could remain for a long time. Requests do not call this function,
        /// because it makes a system call for each idle worker.
        private func replaceEnded() {
            for worker in state.withLock({ $0.removeEnded() }) { replaceLater(worker) }
        }

        private func replace() {
            replaceEnded()
            if state.withLock({ $0.isStopped }) {
                fail(state.withLock { $0.remove() }, Self.isShutDown)
            } else {
                start()
            }
        }

        private func start() {
            do throws(SandboxError) {
                put(try makeWorker())
            } catch {
                fail(state.withLock { $0.remove() }, ImageDecodingError(.decoderUnavailable, error.message))
            }
        }

        private func makeWorker() throws(SandboxError) -> WorkerProcess {
            let id = lastID.add(1, ordering: .relaxed).newValue
            let worker = try WorkerProcess(id: id, configuration)
            state.withLock { $0.statistics.startedWorkers += 1 }
            return worker
        }

        private func fail(_ waiters: [Waiter], _ error: ImageDecodingError) {
            for waiter in waiters { waiter.resume(.failure(error)) }
        }

        /// The work that starts and ends workers.
        ///
        /// `@unchecked` because a group's methods may be called from any thread, which its declaration does not say.
        private struct Background: @unchecked Sendable {
            let group = DispatchGroup()
        }
    }
#endif
