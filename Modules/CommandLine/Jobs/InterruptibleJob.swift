import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime

/// A job that loads images, and that a signal ends before its time.
struct InterruptibleJob: Sendable {
    /// How long an interrupted job is waited for. What it has not written by then it will not write: files get their names
    /// when they are whole.
    private static let grace = Duration.seconds(1)

    let downloader: Downloader
    /// Tells of all exchanges at the end; nil: nobody does.
    let log: TransferLog?
    /// Says how far the job has come that is interrupted; nil: nobody does.
    let tally: RunTally?

    /// Runs the job to its end, or to that of its grace.
    ///
    /// - Parameter job: Says whether all went well.
    func run(_ job: @escaping @Sendable (Interruption) async -> Bool) async -> ExitStatus {
        let running = Locked<Task<Bool, Never>?>(nil)
        let end = GracePeriodTask<Bool>()
        let interruption = Interruption { [downloader] in
            // Transfers first: they keep what has come. Then what decodes, processes and draws.
            await downloader.shutDown()
            running.withLock { $0 }?.cancel()
            end.hasBeenStopped(grace: Self.grace)
        }
        let task = Task { await job(interruption) }
        running.withLock { $0 = task }
        // A signal that came before found nothing to cancel.
        if interruption.isRequested { task.cancel() }
        let succeeded = await end.value(of: task)
        if let log { Console.notice(log.summary) }
        if interruption.isRequested { tally?.printInterruption() }
        return await interruption.finish() ?? (succeeded == true ? .success : .failure)
    }
}

/// Work that is waited for only so long once it has been told to stop: what a C library has begun runs to its end, which
/// may be a minute away, and hears of nothing.
struct GracePeriodTask<Value: Sendable>: Sendable {
    private let ends: AsyncStream<Value?>
    private let end: AsyncStream<Value?>.Continuation
    private let clock: any TimeSource

    init(clock: any TimeSource = SystemClock()) {
        (ends, end) = AsyncStream.makeStream()
        self.clock = clock
    }

    /// To be called when the work has been told to stop.
    ///
    /// - Parameter grace: How long it is waited for from now on.
    func hasBeenStopped(grace: Duration) {
        Task {
            try? await clock.sleep(for: grace)
            end.yield(nil)
        }
    }

    /// What the work gives; nil when it has outlasted the grace, and goes on. To be called once.
    func value(of task: Task<Value, Never>) async -> Value? {
        Task { end.yield(await task.value) }
        for await value in ends { return value }
        return nil
    }
}
