import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime

/// A job that loads images and that a signal can interrupt.
struct InterruptibleJob: Sendable {
    /// The time that an interrupted job has to finish: 1 second. Results that it has not written by then are lost.
    /// Files receive their names only when they are complete, so no partial file remains.
    private static let grace = Duration.seconds(1)

    let downloader: Downloader
    /// The log whose summary is printed at the end, or nil.
    let log: TransferLog?
    /// The counter that reports the progress of an interrupted job, or nil.
    let tally: RunTally?

    /// Runs the job until it ends, or until the grace period after an interruption ends. Then prints the summary of the
    /// log, and after an interruption the number of completed images.
    ///
    /// - Parameter job: The job. Returns whether it succeeded.
    /// - Returns: The exit status of the signal after an interruption; otherwise success or failure.
    func run(_ job: @escaping @Sendable (Interruption) async -> Bool) async -> ExitStatus {
        let running = Locked<Task<Bool, Never>?>(nil)
        let end = GracePeriodTask<Bool>()
        let interruption = Interruption { [downloader] in
            // Downloads are shut down first, so that they store the received bytes. The cancellation then stops
            // decoding, processing and drawing.
            await downloader.shutDown()
            running.withLock { $0 }?.cancel()
            end.hasBeenStopped(grace: Self.grace)
        }
        let task = Task { await job(interruption) }
        running.withLock { $0 = task }
        // A signal that arrived earlier found no task to cancel.
        if interruption.isRequested { task.cancel() }
        let succeeded = await end.value(of: task)
        if let log { Console.notice(log.summary) }
        if interruption.isRequested { tally?.printInterruption() }
        return await interruption.finish() ?? (succeeded == true ? .success : .failure)
    }
}

/// A task that is awaited for a limited time after it was told to stop. A call of a C library cannot be canceled and
/// may run for a minute.
struct GracePeriodTask<Value: Sendable>: Sendable {
    private let ends: AsyncStream<Value?>
    private let end: AsyncStream<Value?>.Continuation
    private let clock: any TimeSource

    init(clock: any TimeSource = SystemClock()) {
        (ends, end) = AsyncStream.makeStream()
        self.clock = clock
    }

    /// Starts the grace period. Call it after the work was told to stop.
    ///
    /// - Parameter grace: The time that the work has to finish.
    func hasBeenStopped(grace: Duration) {
        Task {
            try? await clock.sleep(for: grace)
            end.yield(nil)
        }
    }

    /// Returns the value of the task, or nil if the task is still running when the grace period ends. Call it once.
    func value(of task: Task<Value, Never>) async -> Value? {
        Task { end.yield(await task.value) }
        for await value in ends { return value }
        return nil
    }
}
