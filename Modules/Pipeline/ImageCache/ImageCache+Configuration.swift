public import AlcedoCore
public import FoundationEssentials

extension ImageCache {
    /// The parts a cache is made of.
    public struct Configuration: Sendable {
        /// The formats that are read and written.
        public var codecs: CodecRegistry
        /// Decoded images; nil keeps none. A listener of its evictions must not call the ``ImageCache``.
        public var memoryCache: (any MemoryCaching)?
        /// Encoded bytes; nil keeps none.
        public var diskCache: (any DataCaching)?
        /// Decides what bytes are kept of an image. Default: ``DefaultCacheSerializer``.
        public var serializer: any CacheSerializer
        /// How bytes are decoded. One for all, since images in memory are not told apart by it.
        public var decoding: DecodingOptions
        /// The maximum number of images that are decoded and encoded at the same time, each on a thread of its own.
        /// Default: 2.
        public var maxConcurrentDecodes: Int
        /// Most bytes that decoding holds at once, the images it made not counted. Default: 512 MiB.
        public var maximumDecodingByteCount: Int
        /// Where the disk cache has the file of an entry, if that can be told: `{ files.path(for: $0) }`. Default: nil.
        public var filePath: (@Sendable (ImageKey) -> URL?)?
        /// Is told what a clean has removed, by ``ImageKey/fileName``: one that was asked for, and one that the disk cache
        /// does by itself in the background, where it is a ``TrimReportingDataCache``, as the package's disk caches are. Not
        /// called when nothing was removed. Of a disk cache that others use, too, all trims are told. Comes from any thread.
        /// Kingfisher's `KingfisherDidCleanDiskCache`.
        public var onClean: (@Sendable (_ names: [String]) -> Void)?
        /// Is told what became of writes that nobody waited for, and failed. Comes from any thread.
        public var onWriteFailure: (@Sendable (ImageKey, any Error) -> Void)?
        /// Runs the tasks of the cache, and its decoding and encoding in place of threads of its own: for tests, with the
        /// `ManualExecutor` of `AlcedoTesting`. Default: nil, Swift's own executor and threads of the cache.
        public var taskExecutor: (any TaskExecutor)?

        /// By default keeps nothing: give it a memory cache, a disk cache or both.
        public init(
            codecs: CodecRegistry,
            memoryCache: (any MemoryCaching)? = nil,
            diskCache: (any DataCaching)? = nil,
            serializer: any CacheSerializer = DefaultCacheSerializer(),
            decoding: DecodingOptions = DecodingOptions(),
            maxConcurrentDecodes: Int = 2,
            maximumDecodingByteCount: Int = 512 << 20,
            filePath: (@Sendable (ImageKey) -> URL?)? = nil,
            onClean: (@Sendable (_ names: [String]) -> Void)? = nil,
            onWriteFailure: (@Sendable (ImageKey, any Error) -> Void)? = nil,
            taskExecutor: (any TaskExecutor)? = nil
        ) {
            self.codecs = codecs
            self.memoryCache = memoryCache
            self.diskCache = diskCache
            self.serializer = serializer
            self.decoding = decoding
            self.maxConcurrentDecodes = maxConcurrentDecodes
            self.maximumDecodingByteCount = maximumDecodingByteCount
            self.filePath = filePath
            self.onClean = onClean
            self.onWriteFailure = onWriteFailure
            self.taskExecutor = taskExecutor
        }
    }
}
