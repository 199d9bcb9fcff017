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

    func cache(_ change: (inout ImageCache.Configuration) -> Void = { _ in }) -> ImageCache {
        var configuration = ImageCache.Configuration(codecs: codec.registry, memoryCache: memory, diskCache: disk)
        change(&configuration)
        return ImageCache(configuration)
    }

    /// Returns the bytes of an original on disk.
    func stored(_ key: String) -> Data? { disk.entries.value[ImageCache.imageKey(key)]?.data }
}
