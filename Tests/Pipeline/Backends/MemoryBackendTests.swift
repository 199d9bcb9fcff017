import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// The same pipeline over every memory cache.
@Suite(.timeLimit(.minutes(10)))
struct MemoryBackendTests {
    private let downloader = FakeDownloader { _, _ in Download(data: level(7)) }

    private func pipeline(_ cache: any MemoryCaching) -> ImagePipeline {
        ImagePipeline(
            ImagePipeline.Configuration(downloader: downloader, codecs: FakeCodec().registry, memoryCache: cache))
    }

    @Test(arguments: MemoryBackend.allCases)
    func `a loaded image is found at once, by another pipeline too`(backend: MemoryBackend) async throws {
        let cache = backend.make()
        let (original, variant) = (try web("a"), try web("a") { $0.processors = [Brighten(step: 5)] })
        let first = pipeline(cache)
        #expect(first.cachedImage(for: original) == nil)
        #expect(try await first.load(original).layer == .network)
        #expect(try await first.load(variant).image.level == 12)

        let second = pipeline(cache)
        #expect(second.cachedImage(for: original)?.level == 7)
        #expect(second.cachedImage(for: variant)?.level == 12)
        #expect(try await second.load(variant).layer == .memory)
        #expect(cache.totalCost > 0)
    }

    @Test(arguments: MemoryBackend.allCases)
    func `a removed image is loaded again`(backend: MemoryBackend) async throws {
        let cache = backend.make()
        let pipeline = pipeline(cache)
        for name in ["a", "b"] { _ = try await pipeline.load(try web(name)) }

        #expect(cache.removeAll(of: try web("a").originalKey.resource) == 1)

        #expect(pipeline.cachedImage(for: try web("a")) == nil)
        #expect(try await pipeline.load(try web("b")).layer == .memory)
        #expect(try await pipeline.load(try web("a")).layer == .network)
        cache.removeAll()
        #expect(pipeline.cachedImage(for: try web("b")) == nil)
        #expect(cache.totalCost == 0)
    }
}
