#if Sandbox
    import AlcedoCore
    import CSandboxShim
    import Synchronization

    /// Worker processes that decode images and can do nothing else.
    ///
    /// The bytes of an image go to a worker, and pixels come back, through shared memory. A worker cannot open files or
    /// sockets, start processes, or read the app's memory. If an image makes its decoder crash, hang, exhaust memory or
    /// call the system, only the decoding of that image fails, with an ``/AlcedoCore/ImageDecodingError``. Another
    /// worker replaces the failed one.
    ///
    /// The app starts its own executable again for each worker. Call
    /// ``SandboxWorker/runIfRequested(_:conversions:prepare:)`` first in `main`:
    ///
    /// ```swift
    /// let codecs = CodecRegistry.standard
    /// SandboxWorker.runIfRequested(codecs)
    /// let sandbox = try Sandbox()
    /// let image = try codecs.sandboxed(in: sandbox).decode(data)
    /// ```
    ///
    /// Images share a worker, so a worker that an image has taken over can alter or observe the images after it, until
    /// it is replaced, and read what earlier images left in its memory. Set
    /// ``SandboxConfiguration/requestsPerWorker`` to 1 to give each request a process of its own.
    public final class Sandbox: Sendable {
        let pool: WorkerPool
        /// The version of Landlock that confines the workers in addition to the filter of system calls; 0 if the kernel
        /// does not have Landlock.
        public let landlockVersion: Int
        /// The number of files that `prepare` of ``SandboxWorker/runIfRequested(_:conversions:prepare:)`` names and the
        /// first worker could not keep open, for example because of the limit of open files. A decoder that opens such
        /// a file ends its worker.
        public let unavailableFileCount: Int
        private let lastSession = Atomic<UInt64>(0)

        /// Starts the workers, and returns when one of them is confined. Blocks for some 20 milliseconds.
        ///
        /// - Throws: ``SandboxError``: `unsupported` if the kernel or the container lacks seccomp filters or sealed
        ///   memory, `cannotStart` if `/proc` is not mounted, or if the worker does not start or does not call
        ///   ``SandboxWorker/runIfRequested(_:conversions:prepare:)``.
        public init(_ configuration: SandboxConfiguration = SandboxConfiguration()) throws(SandboxError) {
            try SandboxWorker.checkIsApp()
            guard alcedo_sandbox_check_kernel() == 0 else {
                throw SandboxError(.unsupported, "sandbox: the kernel has no seccomp filters that report calls")
            }
            pool = WorkerPool(configuration)
            let confinement = try pool.startAll()
            landlockVersion = confinement.landlockVersion
            unavailableFileCount = confinement.unavailableFileCount
        }

        deinit { pool.shutDownLater() }

        /// The counts of requests and failures so far. Reading them also replaces idle workers that have ended.
        public var statistics: SandboxStatistics { pool.statistics }

        /// Ends the workers. Further requests throw an error. Blocks until all idle workers have ended; a worker in use
        /// ends after its request.
        public func shutDown() { pool.shutDown() }

        /// Returns a number that no other animation of this sandbox has.
        func makeSession() -> UInt64 { lastSession.add(1, ordering: .relaxed).newValue }
    }
#endif
