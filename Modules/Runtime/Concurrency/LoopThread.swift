import AlcedoLibc
import Dispatch

/// Threads for loops that run for the lifetime of an object, such as a transport.
///
/// Dispatch queues are not suitable: each long-running block occupies one of the 255 threads that all queues of a
/// process share. When none is left, no other blocking work can start.
package enum LoopThread {
    private final class Job {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new thread, which ends with it. If the system cannot create a thread, runs `body` on a dispatch
    /// queue.
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
