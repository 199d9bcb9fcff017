public import AlcedoCore
public import FoundationEssentials

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
        package var filePath: (@Sendable (ImageKey) -> URL?)?
        package var onClean: (@Sendable (_ names: [String]) -> Void)?
        package var onWriteFailure: (@Sendable (ImageKey, any Error) -> Void)?

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
        ///     asked for, and one that the disk cache does by itself in the background, where it reports its trims, as the
        ///     package's disk caches do. Not called when nothing was removed. Of a disk cache that others use, too, all trims
        ///     are reported. Called on any thread. Default: nil.
        ///   - onWriteFailure: Gets the error of a write that nobody waited for. Called on any thread. Default: nil.
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
            onWriteFailure: (@Sendable (ImageKey, any Error) -> Void)? = nil
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
        }
    }
}
