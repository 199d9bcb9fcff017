public import AlcedoCore

extension ImageCache {
    /// The parts a cache is made of.
    public struct Configuration: Sendable {
        package var codecs: CodecRegistry
        package var memoryCache: (any MemoryCaching)?
        package var diskCache: (any DataCaching)?
        package var serializer: any CacheSerializer
        package var decoding: DecodingOptions
        package var maxConcurrentDecodes: Int
        package var maximumDecodingByteCount: Int
        package var onClean: (@Sendable (_ names: [String]) -> Void)?
        package var onWriteFailure: (@Sendable (ImageKey, any Error) -> Void)?
        package var taskExecutor: (any TaskExecutor)?

        /// Creates a configuration that by default keeps nothing: give it a memory cache, a disk cache or both.
        ///
        /// - Parameters:
        ///   - codecs: The formats that are read and written.
        ///   - memoryCache: Keeps decoded images; nil keeps none. A listener of its evictions must not call the
        ///     ``ImageCache``. Default: nil.
        ///   - diskCache: Keeps encoded bytes; nil keeps none. ``ImageCache/cleanExpired()`` and `onClean` need a
        ///     ``/AlcedoCore/MaintainableDataCache``, as the package's disk caches are. Default: nil.
        ///   - serializer: Decides what bytes are kept of an image. Default: ``DefaultCacheSerializer``.
        ///   - decoding: How bytes are decoded. One for all, since images in memory are not told apart by it.
        ///   - maxConcurrentDecodes: The maximum number of images that are decoded and encoded at the same time, each on a
        ///     thread of its own. Default: 2.
        ///   - maximumDecodingByteCount: The maximum number of bytes that decoding holds at once, the images it made not
        ///     counted. Default: 512 MiB.
        ///   - onClean: Gets what a clean has removed, by ``/AlcedoCore/ImageKey/fileName``: one that was
        ///     asked for, and one that the disk cache does by itself in the background. Only a
        ///     ``/AlcedoCore/MaintainableDataCache`` reports that. Not called when nothing was removed. Of a disk cache that
        ///     others use, too, all trims are reported. Called on any thread. Default: nil.
        ///   - onWriteFailure: Gets the error of a write that nobody waited for. Called on any thread. Default: nil.
        ///   - taskExecutor: Runs the tasks of the cache, and its decoding and encoding in place of threads of its own: for
        ///     tests, with the `ManualExecutor` of `AlcedoTesting`. Default: nil, Swift's own executor and threads of the cache.
        public init(
            codecs: CodecRegistry,
            memoryCache: (any MemoryCaching)? = nil,
            diskCache: (any DataCaching)? = nil,
            serializer: any CacheSerializer = DefaultCacheSerializer(),
            decoding: DecodingOptions = DecodingOptions(),
            maxConcurrentDecodes: Int = 2,
            maximumDecodingByteCount: Int = 512 << 20,
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
            self.onClean = onClean
            self.onWriteFailure = onWriteFailure
            self.taskExecutor = taskExecutor
        }
    }
}
