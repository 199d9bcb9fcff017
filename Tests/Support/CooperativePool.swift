import AlcedoLibc

/// The threads on which tasks run.
enum CooperativePool {
    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Enqueue) -> Void

    /// The runtime has no such hook.
    struct Missing: Error {}

    /// From now on tasks run one after another on a queue that always has a thread.
    static func leave() throws {
        guard let hook = dlsym(nil, "swift_task_enqueueGlobal_hook") else { throw Missing() }
        hook.assumingMemoryBound(to: Optional<Hook>.self).pointee = { job, _ in
            SerialQueueExecutor.shared.enqueue(job)
        }
    }
}
