#if Sandbox
    import AlcedoCore

    /// The use of a worker for one image, by one thread at a time.
    ///
    /// The first call takes a worker. The following calls have the same one, until the lease ends.
    final class WorkerLease {
        private let pool: WorkerPool
        private var worker: WorkerProcess?
        /// Whether a worker has ended that had begun with the image, for a reason that is not known.
        private var hasLostWorker = false

        init(of pool: WorkerPool) { self.pool = pool }

        deinit { end() }

        /// Calls `body` with a worker that no other thread uses. A lease without a worker waits for one, and calls
        /// `begin` with it first.
        ///
        /// If the worker fails, the error is that of the image, and another worker replaces it. If the worker had ended
        /// before it received a message, the calls are made again with another one; after `begin`, only once, because
        /// the image may be what ends its workers. Errors of `body` itself leave the worker in use, unless it still
        /// works on the request.
        ///
        /// - Parameters:
        ///   - id: The worker to prefer.
        ///   - begin: What a worker does first. Default: nothing.
        func withWorker<Result>(
            preferring id: Int? = nil, begin: ((WorkerProcess) throws -> Void)? = nil,
            _ body: (WorkerProcess) throws -> Result
        ) throws -> Result {
            if worker == nil { pool.countRequest() }
            var attempts = 0
            while true {
                var hasBegun = worker != nil
                let worker = try self.worker ?? pool.take(preferring: id)
                self.worker = worker
                do {
                    if !hasBegun {
                        try begin?(worker)
                        hasBegun = true
                    }
                    return try body(worker)
                } catch var failure as WorkerFailure {
                    self.worker = nil
                    if case .lost = failure, begin != nil, hasBegun {
                        if hasLostWorker { failure = worker.lastFailure() }
                        hasLostWorker = true
                    }
                    let error = pool.discard(worker, failure)
                    attempts += 1
                    // Every idle worker may have been killed at the same time.
                    guard case .lost = failure, attempts <= pool.configuration.workerCount + 1 else { throw error }
                } catch {
                    if worker.isWorking {
                        // The worker would mix the rest of its work with the next request.
                        self.worker = nil
                        pool.recycle(worker)
                    } else if !hasBegun {
                        end()
                    }
                    throw error
                }
            }
        }

        /// Gives the worker back, after a last message. Does nothing without a worker.
        func end(sending kind: RequestKind? = nil) {
            guard let worker else { return }
            self.worker = nil
            // A worker that has ended is found when it is used again.
            if let kind { try? worker.send(kind) }
            pool.giveBack(worker)
        }
    }
#endif
