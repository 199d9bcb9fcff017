public import AlcedoCore
public import FoundationEssentials

extension ImageCache {
    /// The parts a cache is made of.
    public struct Configuration: Sendable {
        package var codecs: CodecRegistry
        package var memoryCache: (any MemoryCaching)?
        /// Setting it sets ``maintainableDiskCache`` to nil.
        package var diskCache: (any DataCaching)? {
            get { disk.cache }
            set { disk = newValue.map { .plain($0) } ?? .none }
        }
        /// Setting it sets ``diskCache``.
        package var maintainableDiskCache: (any MaintainableDataCache)? {
            get { disk.maintainable }
            set { disk = newValue.map { .maintainable($0) } ?? .none }
        }
        package var serializer: any CacheSerializer
        package var decoding: DecodingOptions
        package var maxConcurrentDecodes: Int
        package var maximumDecodingByteCount: Int
        package var filePath: (@Sendable (ImageKey) -> URL?)?
        package var onClean: (@Sendable (_ names: [String]) -> Void)?
        package var onWriteFailure: (@Sendable (ImageKey, any Error) -> Void)?
        package var taskExecutor: (any TaskExecutor)?

        private var disk = DiskCache.none

        /// Creates a configuration that by default keeps nothing: give it a memory cache, a disk cache or both.
        ///
        /// - Parameters:
        ///   - codecs: The formats that are read and written.
        ///   - memoryCache: Keeps decoded images; nil keeps none. A listener of its evictions must not call the
        ///     ``ImageCache``. Default: nil.
        ///   - diskCache: Keeps encoded bytes; nil keeps none. Default: nil.
        ///   - serializer: Decides what bytes are kept of an image. Default: ``DefaultCacheSerializer``.
        ///   - decoding: How bytes are decoded. One for all, since images in memory are not told apart by it.
        ///   - maxConcurrentDecodes: The maximum number of images that are decoded and encoded at the same time, each on a
        ///     thread of its own. Default: 2.
        ///   - maximumDecodingByteCount: The maximum number of bytes that decoding holds at once, the images it made not
        ///     counted. Default: 512 MiB.
        ///   - filePath: Returns where the disk cache has the file of an entry, if that can be told:
        ///     `{ files.path(for: $0) }`. Default: nil.
        ///   - onClean: Gets what a clean has removed, by ``ImageCache/fileName(forKey:processorIdentifier:)``: one that was
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
            filePath: (@Sendable (ImageKey) -> URL?)? = nil,
            onClean: (@Sendable (_ names: [String]) -> Void)? = nil,
            onWriteFailure: (@Sendable (ImageKey, any Error) -> Void)? = nil,
            taskExecutor: (any TaskExecutor)? = nil
        ) {
            self.codecs = codecs
            self.memoryCache = memoryCache
            disk = diskCache.map { .plain($0) } ?? .none
            self.serializer = serializer
            self.decoding = decoding
            self.maxConcurrentDecodes = maxConcurrentDecodes
            self.maximumDecodingByteCount = maximumDecodingByteCount
            self.filePath = filePath
            self.onClean = onClean
            self.onWriteFailure = onWriteFailure
            self.taskExecutor = taskExecutor
        }

        /// A cache on a disk cache that can be cleaned, as the package's disk caches can. The other parameters are
        /// those of the initializer for any disk cache.
        public init(
            codecs: CodecRegistry,
            memoryCache: (any MemoryCaching)? = nil,
            diskCache: any MaintainableDataCache,
            serializer: any CacheSerializer = DefaultCacheSerializer(),
            decoding: DecodingOptions = DecodingOptions(),
            maxConcurrentDecodes: Int = 2,
            maximumDecodingByteCount: Int = 512 << 20,
            filePath: (@Sendable (ImageKey) -> URL?)? = nil,
            onClean: (@Sendable (_ names: [String]) -> Void)? = nil,
            onWriteFailure: (@Sendable (ImageKey, any Error) -> Void)? = nil,
            taskExecutor: (any TaskExecutor)? = nil
        ) {
            self.init(
                codecs: codecs, memoryCache: memoryCache, diskCache: nil, serializer: serializer, decoding: decoding,
                maxConcurrentDecodes: maxConcurrentDecodes, maximumDecodingByteCount: maximumDecodingByteCount,
                filePath: filePath, onClean: onClean, onWriteFailure: onWriteFailure, taskExecutor: taskExecutor)
            maintainableDiskCache = diskCache
        }

        /// The disk cache by what it can do, so that no cache has to be asked at run time.
        private enum DiskCache: Sendable {
            case none
            case plain(any DataCaching)
            case maintainable(any MaintainableDataCache)

            var cache: (any DataCaching)? {
                switch self {
                case .none: nil
                case .plain(let cache): cache
                case .maintainable(let cache): cache
                }
            }

            var maintainable: (any MaintainableDataCache)? {
                if case .maintainable(let cache) = self { cache } else { nil }
            }
        }
    }
}
