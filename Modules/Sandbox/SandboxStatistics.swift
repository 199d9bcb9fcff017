#if Sandbox
    /// The counts of a sandbox since it was created.
    public struct SandboxStatistics: Sendable, Hashable {
        /// The number of requests: opened images, each with all that is asked of it until it is decoded, frames and
        /// conversions, with and without errors.
        public internal(set) var requests = 0
        /// The number of requests whose decoder crashed.
        public internal(set) var crashes = 0
        /// The number of requests whose decoder made a system call that the sandbox forbids.
        public internal(set) var illegalCalls = 0
        /// The number of requests that exceeded the limit of time or of CPU time.
        public internal(set) var timeouts = 0
        /// The number of requests whose decoder crashed while more than a third of the memory limit was in use, or
        /// whose worker was killed by SIGKILL, as the kernel does when the memory of the system runs out.
        public internal(set) var memoryOverruns = 0
        /// The number of requests whose worker sent impossible values, such as pixels outside of the shared memory.
        public internal(set) var violations = 0
        /// The number of workers that were started.
        public internal(set) var startedWorkers = 0
        /// The number of workers that were replaced after many images, because their memory had grown, or because the
        /// task was canceled that waited for them.
        public internal(set) var recycledWorkers = 0
        /// The number of idle workers that the kernel or another process ended. No image was lost.
        public internal(set) var lostWorkers = 0

        mutating func count(_ kind: WorkerFailure.Kind) {
            switch kind {
            case .crash: crashes += 1
            case .illegalCall: illegalCalls += 1
            case .timeout: timeouts += 1
            case .memoryOverrun: memoryOverruns += 1
            case .violation: violations += 1
            }
        }
    }
#endif
