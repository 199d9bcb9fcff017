import AlcedoCore
import AlcedoRuntime

// Starts and runs transfers, and pauses them before retries.

extension Downloader {
    /// Begins the transfers that the table selects, and resumes those that waited for a slot before a retry. If the
    /// rate limit delays other transfers, a timer calls this method again.
    ///
    /// - Parameter isInTask: Whether the caller is a task that is about to suspend. If so, and if there is no task
    ///   executor, transfers from servers begin immediately on the caller's thread, which avoids a switch to another
    ///   thread. Default: false.
    func pump(isInTask: Bool = false) {
        let now = clock.uptime
        let (beginnings, delay) = table.withLock { $0.begin(at: now) }
        for beginning in beginnings {
            guard beginning.isFirst else {
                takeRequeued(beginning.id)?.resume()
                continue
            }
            let operation = { @Sendable () async in await self.run(beginning.id, beginning.request) }
            let task: Task<Void, Never>
            if isInTask, taskExecutor == nil, case .http = beginning.request.source {
                task = Task.immediate(operation: operation)
            } else {
                task = Task(executorPreference: taskExecutor, operation: operation)
            }
            if table.withLock({ $0.attach(task, to: beginning.id) }) { task.cancel() }
        }
        if let delay { pump(after: delay) }
    }

    /// Calls ``pump(isInTask:)`` again after a delay. Does nothing if a timer already runs, because one timer serves
    /// all callers.
    private func pump(after delay: Duration) {
        guard table.withLock({ $0.setTimer() }) else { return }
        let task = Task(executorPreference: taskExecutor) { [self] in
            // Canceling all downloads also cancels this task, and `sleep` then throws early.
            try? await clock.sleep(for: delay)
            table.withLock { $0.clearTimer() }
            pump()
        }
        table.withLock { $0.attachTimer(task) }
    }

    private func run(_ id: Int, _ transfer: TransferRequest) async {
        var onBytes: DownloadRequest.BytesHandler?
        if transfer.deliversBytes {
            onBytes = { offset, bytes in
                let listeners = self.table.withLock { $0.waiters(of: id) { $0.onBytes != nil } }
                for waiter in listeners { waiter.onBytes?(offset, bytes) }
            }
        }
        let outcome: Result<TransferResult, any Error>
        do {
            if let admission = transfer.admission { try await admission() }
            outcome = .success(
                try await fetcher.fetch(transfer, pause: { try await self.backOff(id, for: $0) }, onBytes: onBytes) {
                    progress in
                    let listeners = self.table.withLock { $0.waiters(of: id) { $0.progress != nil } }
                    for waiter in listeners { waiter.progress?(progress) }
                })
        } catch {
            outcome = .failure(DownloadError.naming(transfer.source, error))
        }
        let (waiters, hasEnded) = table.withLock { ($0.finish(id), $0.hasEnded) }
        for waiter in waiters { waiter.complete(outcome) }
        if hasEnded { return resumeShutdownWaiters() }
        pump()
    }

    /// Releases the transfer's slot, pauses, then waits for a slot. Throws `CancellationError` if the task is canceled.
    private func backOff(_ id: Int, for pause: Duration) async throws {
        table.withLock { $0.backOff(id) }
        pump()
        try await clock.sleep(for: pause)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                requeued.withLock { $0[id] = continuation }
                table.withLock { $0.requeue(id) }
                // A cancellation that came before the continuation was stored had nothing to resume.
                if Task.isCancelled { takeRequeued(id)?.resume(throwing: CancellationError()) }
                pump()
            }
        } onCancel: {
            takeRequeued(id)?.resume(throwing: CancellationError())
        }
    }

    private func takeRequeued(_ id: Int) -> CheckedContinuation<Void, any Error>? {
        requeued.withLock { $0.removeValue(forKey: id) }
    }
}
