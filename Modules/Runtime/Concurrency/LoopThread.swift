import AlcedoLibc
import Dispatch

/// Threads for loops that run as long as something lives, such as a transport's.
///
/// Not dispatch queues: each that works for long keeps one of the 255 threads that all queues of a process share, and
/// when those are used up nothing else that is blocking ever begins.
package enum LoopThread {
    private final class Job {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own, which ends with it. Where the system has no thread left, a dispatch queue's
    /// is taken.
    package static func start(_ body: @escaping @Sendable () -> Void) {
        let job = Unmanaged.passRetained(Job(body))
        let isStarted = Threads.startDetached(job.toOpaque()) { context in
            if let context { Unmanaged<Job>.fromOpaque(context).takeRetainedValue().body() }
            return nil
        }
        guard !isStarted else { return }
        job.release()
        DispatchQueue(label: "alcedo.loop").async(execute: body)
    }
}
