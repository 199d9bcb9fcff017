import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// The work of one load of an image that no cache has, counted so that it does not grow unnoticed.
@Suite(.timeLimit(.minutes(10)))
struct OneLoadTests {
    @Test func `a cold load looks up, reads, downloads, decodes and stores as often as it must`() async throws {
        let (memory, disk, codec) = (CountedMemoryCache(), FakeDataCache(), FakeCodec())
        let downloader = FakeDownloader(giving: level(100))
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader, codecs: codec.registry, memoryCache: memory, diskCache: disk))
        let processor = Brighten(step: 1)

        let response = try await pipeline.load(try web("a") { $0.processors = [processor] })
        await pipeline.flush()

        #expect(response.image.level == 101)
        // The finished image before the load is shared, and the decoded image.
        #expect(memory.lookups.value == 2)
        // The same again inside the shared work, because an equal one may have ended in between.
        #expect(memory.probes.value == 2)
        #expect(memory.stores.value == 1)
        #expect(disk.reads.value == 1)
        #expect(downloader.count == 1)
        #expect(codec.decodes.value == 1)
        #expect(processor.runs.value == 1)
        #expect(disk.stores.value == 1)
    }
}

/// Counts the calls of its methods.
private final class CountedMemoryCache: MemoryCaching {
    private let cache = DictionaryMemoryCache()
    let lookups = Watched(0)
    let probes = Watched(0)
    let stores = Watched(0)

    func image(for key: ImageKey) -> DecodedImage? {
        lookups.update { $0 += 1 }
        return cache.image(for: key)
    }

    func contains(_ key: ImageKey) -> Bool {
        probes.update { $0 += 1 }
        return cache.contains(key)
    }

    func store(_ image: DecodedImage, for key: ImageKey) {
        stores.update { $0 += 1 }
        cache.store(image, for: key)
    }

    func remove(_ key: ImageKey) -> Bool { cache.remove(key) }

    func removeAll(of resource: ResourceKey) -> Int { cache.removeAll(of: resource) }

    func removeAll() { cache.removeAll() }
}
