public import AlcedoCore

extension ImagePipeline {
    /// The parts and limits of a pipeline.
    ///
    /// ```swift
    /// var configuration = ImagePipeline.Configuration.standard()
    /// configuration.maxConcurrentDecodes = 4
    /// configuration.observers = [TextLogger { print($0) }]
    /// let pipeline = ImagePipeline(configuration)
    /// ```
    ///
    /// Each part can be replaced by a type of the app that conforms to the part's protocol.
    public struct Configuration: Sendable {
        /// The downloader, which fetches encoded bytes.
        public var downloader: any Downloading
        /// The codecs of the supported formats.
        public var codecs: CodecRegistry
        /// The converter to the color space of each request, called between decoding and processing; nil to convert
        /// nothing. Default: nil; in the standard configuration, `LittleCMSColorConverter`.
        public var colorConverter: (any ColorConverting)?
        /// The cache of decoded images, or nil for no memory cache.
        public var memoryCache: (any MemoryCaching)?
        /// The cache of encoded bytes, or nil for none: the processed images, and the original bytes unless
        /// ``originalDiskCache`` has them.
        public var diskCache: (any DataCaching)?
        /// The cache of original bytes, apart from the processed images in ``diskCache``; nil to keep both there.
        /// Default: nil.
        ///
        /// ```swift
        /// configuration.originalDiskCache = FileDiskCache(directory: originals, sizeLimit: 1 << 30)
        /// configuration.diskCache = FileDiskCache(directory: images, sizeLimit: 64 << 20)
        /// configuration.dataCachePolicy = .both
        /// ```
        ///
        /// The two kinds of entries then have limits of their own. Removals affect both caches, and
        /// ``/AlcedoCore/DataCachePolicy`` determines what is stored. Without a ``diskCache``, no processed images are
        /// stored. Original bytes that ``diskCache`` has from before are not found. Source: Kingfisher's
        /// `originalCache`, an option of its requests.
        public var originalDiskCache: (any DataCaching)?
        /// The data that the disk cache stores for requests without a policy of their own. Default: the original bytes.
        public var dataCachePolicy: DataCachePolicy
        /// The serializer that encodes and decodes processed images for the disk cache. Default: a
        /// ``DefaultCacheSerializer``, which writes the format of the original where that can hold the image, and PNG
        /// otherwise.
        public var serializer: any CacheSerializer
        /// The interceptors of every load. The first is the outermost. Default: none.
        public var interceptors: [any ImageLoadInterceptor]
        /// The observers of every step, called in this order. Default: none.
        public var observers: [any PipelineObserving]
        /// The tracers, which receive the beginning and the end of every step, called in this order. Default: none.
        public var tracers: [any LoadTracing]
        /// The clock that measures the steps, ``previewInterval``, ``writeTimeout`` and ``asyncCodecTimeout``, and
        /// determines the expiry of entries on disk. Default: the system's clock.
        public var clock: any TimeSource
        /// The maximum number of images that are decoded, processed or encoded concurrently, each on its own thread.
        /// Values below one count as one. Default: 2.
        public var maxConcurrentDecodes: Int
        /// The maximum number of bytes that concurrent decodes and processors of this pipeline, and calls of
        /// `ImagePipeline.encode(_:to:priority:)`, hold together. Returned images do not count.
        ///
        /// A decode that exceeds the rest of the budget waits without blocking a thread; higher priorities go first. An
        /// image that needs more than the whole budget is the error `exceedsLimit`. What a decode holds at its peak
        /// counts, which can be several times the size of the image, with the rows and the result of a processor that
        /// reduces the image meanwhile: see the guide on performance. An encode that needs more than the whole budget
        /// is the ``/AlcedoCore/ImageEncodingError`` `exceedsLimit`. Processors of decoded images that need more run
        /// alone. Previews have a separate budget of a quarter of this value; a preview that exceeds it is skipped.
        /// Default: 512 MiB.
        public var maximumDecodingByteCount: Int
        /// The rule by which groups of images take turns in being decoded. Default: nil, the order of arrival.
        package var decodingTurns: DecodingTurns?
        /// The number of encoded bytes waiting for a decoder at which no further download or disk read begins.
        ///
        /// Transfers in progress continue, and count with their expected size. Closures of `.provider` sources do not
        /// count while they run. Default: 64 MiB.
        public var maximumEncodedByteCount: Int
        /// The maximum number of bytes that wait for a write to the disk cache. Each write counts 4 KiB more than its
        /// bytes. A load that exceeds the maximum waits for its own write. Default: 16 MiB.
        public var maximumPendingWriteByteCount: Int
        /// The maximum time that a load, a store, a removal, a flush or a shutdown waits for one write to the disk
        /// cache.
        ///
        /// When no write ends in that time, the disk is treated as stalled until a write ends: no caller waits for a
        /// write, and data beyond ``maximumPendingWriteByteCount`` is not written. Default: 10 s.
        public var writeTimeout: Duration
        /// The maximum time of one call of an asynchronous decoder or encoder, after which its task is canceled; nil
        /// for no limit. A decode then fails with `timedOut`, and a write to the disk cache stores what the
        /// serializer makes without the encoder. The memory of the call counts in ``maximumDecodingByteCount`` until
        /// it returns, also if it ignores its cancellation, and decodes that exceed the rest wait. Default: 60 s.
        public var asyncCodecTimeout: Duration?
        /// The maximum number of bytes of intermediate images, decoded or partly processed, that are kept for requests
        /// with other processors. Zero, or a pipeline without a memory cache, keeps none. Default: 16 MiB.
        public var intermediateByteLimit: Int
        /// The minimum time between two previews of an image. Default: 100 ms.
        public var previewInterval: Duration
        /// The executor of the pipeline's tasks, decoding and processing, such as a `ManualExecutor` of
        /// `AlcedoTesting`; nil for Swift's executor and the pipeline's own threads. Default: nil.
        public var taskExecutor: (any TaskExecutor)?

        /// Creates a configuration. With only a downloader and codecs, its pipeline downloads, decodes and processes,
        /// and caches nothing.
        ///
        /// The parameters are the properties of the same names.
        public init(
            downloader: any Downloading,
            codecs: CodecRegistry,
            colorConverter: (any ColorConverting)? = nil,
            memoryCache: (any MemoryCaching)? = nil,
            diskCache: (any DataCaching)? = nil,
            originalDiskCache: (any DataCaching)? = nil,
            dataCachePolicy: DataCachePolicy = .original,
            serializer: any CacheSerializer = DefaultCacheSerializer(),
            interceptors: [any ImageLoadInterceptor] = [],
            observers: [any PipelineObserving] = [],
            tracers: [any LoadTracing] = [],
            clock: any TimeSource = SystemClock(),
            maxConcurrentDecodes: Int = 2,
            maximumDecodingByteCount: Int = 512 << 20,
            maximumEncodedByteCount: Int = 64 << 20,
            maximumPendingWriteByteCount: Int = 16 << 20,
            writeTimeout: Duration = .seconds(10),
            asyncCodecTimeout: Duration? = .seconds(60),
            intermediateByteLimit: Int = 16 << 20,
            previewInterval: Duration = .milliseconds(100),
            taskExecutor: (any TaskExecutor)? = nil
        ) {
            self.downloader = downloader
            self.codecs = codecs
            self.colorConverter = colorConverter
            self.memoryCache = memoryCache
            self.diskCache = diskCache
            self.originalDiskCache = originalDiskCache
            self.dataCachePolicy = dataCachePolicy
            self.serializer = serializer
            self.interceptors = interceptors
            self.observers = observers
            self.tracers = tracers
            self.clock = clock
            self.maxConcurrentDecodes = maxConcurrentDecodes
            self.maximumDecodingByteCount = maximumDecodingByteCount
            self.maximumEncodedByteCount = maximumEncodedByteCount
            self.maximumPendingWriteByteCount = maximumPendingWriteByteCount
            self.writeTimeout = writeTimeout
            self.asyncCodecTimeout = asyncCodecTimeout
            self.intermediateByteLimit = intermediateByteLimit
            self.previewInterval = previewInterval
            self.taskExecutor = taskExecutor
        }
    }
}
