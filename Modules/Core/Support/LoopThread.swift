import Dispatch
import Glibc

/// Threads for loops that run as long as something lives, such as a transport's.
///
/// Not dispatch queues: each that works for long keeps one of the 255 threads that all queues of a process share, and
/// when those are used up nothing else that is blocking ever begins.
package enum LoopThread {
    private final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own, which ends with it. Where the system has no thread left, a dispatch queue's
    /// is taken.
    package static func start(_ body: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let work = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, &attributes,
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        guard result != 0 else { return }
        work.release()
        DispatchQueue(label: "alcedo.loop").async(execute: body)
    }
}
