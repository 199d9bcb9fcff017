import Dispatch

/// Runs tasks one after another on a queue that always has a thread.
final class SerialQueueExecutor: TaskExecutor {
    static let shared = SerialQueueExecutor()

    private let queue = DispatchQueue(label: "tests")

    func enqueue(_ job: UnownedJob) {
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
