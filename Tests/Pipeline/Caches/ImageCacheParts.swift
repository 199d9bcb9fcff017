import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport

/// The parts of image caches under test.
struct ImageCacheParts: Sendable {
    let memory = DictionaryMemoryCache()
    let disk: FakeDataCache
    let codec = FakeCodec()
    let clock: ManualClock

    init(disk: FakeDataCache = FakeDataCache(), clock: ManualClock = ManualClock()) {
        self.disk = disk
        self.clock = clock
    }

    /// The parameters of a cache that tests change.
    struct Options {
        var memoryCache: (any MemoryCaching)?
        var diskCache: (any MeasurableDataCache)?
        var serializer: any CacheSerializer = DefaultCacheSerializer()
        var onClean: (@Sendable ([String]) -> Void)?
        var taskExecutor: (any TaskExecutor)?
    }

    func cache(_ change: (inout Options) -> Void = { _ in }) -> ImageCache {
        var options = Options(memoryCache: memory, diskCache: disk)
        change(&options)
        return ImageCache(
            codecs: codec.registry, memoryCache: options.memoryCache, diskCache: options.diskCache,
            serializer: options.serializer, onClean: options.onClean, taskExecutor: options.taskExecutor)
    }

    /// Returns the bytes of an original on disk.
    func stored(_ key: String) -> Data? { disk.entries.value[ImageCache.imageKey(key)]?.data }
}

extension ImageCache {
    /// Stores an image in memory before the method returns, and on disk in the background.
    func startStoring(
        _ image: DecodedImage, forKey key: String, processorIdentifier: String = "", toDisk: Bool = true
    ) {
        Task.immediate {
            try await store(image, forKey: key, processorIdentifier: processorIdentifier, toDisk: toDisk)
        }
    }
}
