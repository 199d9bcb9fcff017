#if Sandbox
    import AlcedoLibc

    /// The limits and the size of a ``Sandbox``.
    ///
    /// ```swift
    /// var configuration = SandboxConfiguration()
    /// configuration.timeLimit = .seconds(5)
    /// let sandbox = try Sandbox(configuration)
    /// ```
    public struct SandboxConfiguration: Sendable {
        /// The number of worker processes. Default: the number of processors. Values below 1 count as 1.
        public var workerCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        /// The path of the executable that workers run. It must call
        /// ``SandboxWorker/runIfRequested(_:conversions:prepare:)``. Default: nil, the executable of this process. The
        /// program `alcedo` of this package is such an executable.
        public var executable: String?
        /// The number of requests after which a worker is replaced. Default: 1,000. With 1, every request has a process
        /// of its own. One request is an opened image with all that is asked of it until it is decoded, or a frame of
        /// an animation.
        public var requestsPerWorker = 1_000
        /// The growth of a worker's private memory, in bytes, after which it is replaced when it is idle. While the app
        /// uses an animation whose frames the worker decodes, growth does not count. Default: 256 MiB.
        public var maximumGrowthByteCount = 256 << 20
        /// The maximum number of bytes that a worker maps in addition to the program itself (`RLIMIT_AS`). A worker
        /// that has mapped more than three quarters of it is replaced when it is idle. Default: 2 GiB.
        public var maximumMemoryByteCount = 2 << 30
        /// The maximum time that the app waits for all replies to one request. Time that the app itself takes, as to
        /// consume rows, does not count. Before that, a request waits for an idle worker, at most for this limit plus
        /// 20 seconds for itself and for each time that all workers serve requests before it. Default: 30 seconds.
        public var timeLimit = Duration.seconds(30)
        /// The maximum CPU time of all threads of a worker during one request (`RLIMIT_CPU`), rounded up by as much as
        /// two seconds. Default: 60 seconds; at most half an hour.
        public var cpuTimeLimit = Duration.seconds(60)
        /// The maximum number of bytes in an encoded image. Memory is used only as far as images need it. Default: 512
        /// MiB.
        public var maximumInputByteCount = 512 << 20
        /// The maximum number of bytes in a decoded image, including row padding. Memory is used only as far as images
        /// need it. Default: 512 MiB.
        public var maximumOutputByteCount = 512 << 20

        /// The maximum time in which a worker starts and confines itself.
        var startLimit = Duration.seconds(20)

        /// Creates a configuration with the default values.
        public init() {}
    }
#endif
