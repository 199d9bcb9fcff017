public import AlcedoCore

extension ImagePipeline {
    /// The parts a pipeline is made of. Every one is a protocol value: the pipeline names no concrete type.
    public struct Configuration: Sendable {
        /// Fetches bytes.
        public var downloader: any Downloading
        /// The formats that are decoded.
        public var codecs: CodecRegistry
        /// Decoded images; nil keeps none.
        public var memoryCache: (any MemoryCaching)?
        /// Bytes as they arrived; nil keeps none.
        public var diskCache: (any DataCaching)?
        /// The response cache below the downloader, so that what it has can be asked and removed; nil: there is none.
        public var responseCache: (any ResponseCacheAccess)?
        /// What is kept on disk, unless a request says otherwise. Default: the bytes as they came.
        public var dataCachePolicy: DataCachePolicy
        /// Makes the bytes of images that are kept as they were asked for. Default: their own format where it holds them,
        /// else PNG.
        public var serializer: any CacheSerializer
        /// Stand in the way of every load, the first outermost. Default: none.
        public var interceptors: [any ImageLoadInterceptor]
        /// The observers of every step, called in this order. Default: none.
        public var observers: [any PipelineObserving]
        /// The clock that measures the steps and ``writeTimeout``.
        package var clock: any TimeSource
        /// The maximum number of images that are decoded, processed and encoded at the same time, each on a thread of its
        /// own. Default: 2.
        public var maxConcurrentDecodes: Int
        /// Most bytes that decoding holds at once in this pipeline, pictures it returned not counted: what does not fit
        /// beside the others waits, without a thread, the more urgent first. An image that needs more than all of them
        /// is decoded alone. Previews of images under way have a quarter as many beside them; one that finds no room is
        /// left out. Default: 512 MiB.
        public var maximumDecodingByteCount: Int
        /// Encoded bytes that are here and wait for a decoder from which on no further ones are fetched or read; what has
        /// begun by then still comes. Transfers in progress count with the bytes that are expected, the closures of
        /// providers with none. Default: 64 MiB.
        public var maximumEncodedByteCount: Int
        /// Most bytes that wait to be written to the disk cache, 4 KiB for each write among them; a load that would exceed
        /// them waits for its own write. Default: 16 MiB.
        public var maximumPendingWriteByteCount: Int
        /// Longest time that a load, a removal, a flush or a shutdown waits for one write to the disk cache. A disk that ended
        /// none in that time is not waited for, and what exceeds ``maximumPendingWriteByteCount`` is not written, until it ends one.
        /// Default: 10 s.
        public var writeTimeout: Duration
        /// Most bytes of images before, or between, their processors that are held for requests with other processors.
        /// Without a memory cache none are; nor with nought. Default: 16 MiB.
        public var maximumIntermediateByteCount: Int
        /// Shortest time between two previews of an image. Default: 100 ms.
        public var previewInterval: Duration
        package var taskExecutor: (any TaskExecutor)?

        /// Creates a configuration that by default has no caches: its pipeline downloads and decodes.
        ///
        /// The parameters are the properties of the same names. Two more are for tests: `clock` measures the steps and
        /// ``writeTimeout`` (default: the system's clock), and `taskExecutor`, for example a `ManualExecutor` of
        /// `AlcedoTesting`, runs the pipeline's tasks, decoding and processing (default: nil, Swift's executor and threads
        /// of the pipeline).
        public init(
            downloader: any Downloading,
            codecs: CodecRegistry,
            memoryCache: (any MemoryCaching)? = nil,
            diskCache: (any DataCaching)? = nil,
            responseCache: (any ResponseCacheAccess)? = nil,
            dataCachePolicy: DataCachePolicy = .original,
            serializer: any CacheSerializer = DefaultCacheSerializer(),
            interceptors: [any ImageLoadInterceptor] = [],
            observers: [any PipelineObserving] = [],
            clock: any TimeSource = SystemClock(),
            maxConcurrentDecodes: Int = 2,
            maximumDecodingByteCount: Int = 512 << 20,
            maximumEncodedByteCount: Int = 64 << 20,
            maximumPendingWriteByteCount: Int = 16 << 20,
            writeTimeout: Duration = .seconds(10),
            maximumIntermediateByteCount: Int = 16 << 20,
            previewInterval: Duration = .milliseconds(100),
            taskExecutor: (any TaskExecutor)? = nil
        ) {
            self.downloader = downloader
            self.codecs = codecs
            self.memoryCache = memoryCache
            self.diskCache = diskCache
            self.responseCache = responseCache
            self.dataCachePolicy = dataCachePolicy
            self.serializer = serializer
            self.interceptors = interceptors
            self.observers = observers
            self.clock = clock
            self.maxConcurrentDecodes = maxConcurrentDecodes
            self.maximumDecodingByteCount = maximumDecodingByteCount
            self.maximumEncodedByteCount = maximumEncodedByteCount
            self.maximumPendingWriteByteCount = maximumPendingWriteByteCount
            self.writeTimeout = writeTimeout
            self.maximumIntermediateByteCount = maximumIntermediateByteCount
            self.previewInterval = previewInterval
            self.taskExecutor = taskExecutor
        }
    }
}
