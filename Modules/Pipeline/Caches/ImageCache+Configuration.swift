public import AlcedoCore

extension ImageCache {
    /// The parts and limits of an ``ImageCache``.
    ///
    /// ```swift
    /// let configuration = ImageCache.Configuration(
    ///     codecs: .standard, diskCache: FileDiskCache(directory: directory, sizeLimit: 256 << 20),
    ///     onWriteFailure: { key, error in print("Cannot store \(key): \(error)") })
    /// ```
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

        /// Creates a configuration. A cache without a memory cache and a disk cache stores nothing.
        ///
        /// - Parameters:
        ///   - codecs: The codecs of the formats to read and write.
        ///   - memoryCache: The cache of decoded images, or nil for none. Its eviction listener must not call the
        ///     ``ImageCache``. Default: nil.
        ///   - diskCache: The cache of encoded bytes, or nil for none. ``ImageCache/cleanExpired()`` and `onClean`
        ///     require a disk cache of the package. Default: nil.
        ///   - serializer: The serializer, which decides which bytes are stored for an image. Default:
        ///     ``DefaultCacheSerializer``.
        ///   - decoding: The decoding options of all images, because keys do not contain them. Default: the default
        ///     options.
        ///   - maxConcurrentDecodes: The maximum number of images that are decoded or encoded concurrently, each on its
        ///     own thread. Default: 2.
        ///   - maximumDecodingByteCount: The maximum number of bytes that concurrent decodes hold together. Returned
        ///     images do not count. Default: 512 MiB.
        ///   - onClean: A closure that receives the ``/AlcedoCore/ImageKey/fileName`` of each entry that a clean
        ///     removed. The disk cache cleans on request and in the background, and reports this only if it is a
        ///     disk cache of the package. For a disk cache with other users, the closure receives all
        ///     trims. It is called on any thread, and not when nothing was removed. Default: nil.
        ///   - onWriteFailure: A closure that receives the error of a write that no caller waits for. It is called on
        ///     any thread. Default: nil.
        ///   - taskExecutor: An executor for the tasks, decoding and encoding of the cache: for tests, with the
        ///     `ManualExecutor` of `AlcedoTesting`. Default: nil, for Swift's own executor and threads of the cache.
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
