import AlcedoCore
import AlcedoMemoryCache
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// AFNetworking's image cache as the memory cache of a pipeline, as the downloaders of AFNetworking and AlamofireImage
/// use it.
@Suite(.timeLimit(.minutes(10)))
struct AutoPurgingPipelineTests {
    private let downloader = FakeDownloader { _, _ in Download(data: level(7)) }

    private func pipeline(_ cache: AutoPurgingImageCache) -> ImagePipeline {
        ImagePipeline(
            ImagePipeline.Configuration(downloader: downloader, codecs: FakeCodec().registry, memoryCache: cache))
    }

    /// Returns requests of every kind with the additional identifier of the cache, or nil where only the request finds
    /// the image.
    private func requests() throws -> [(request: ImageRequest, identifier: String?)] {
        [
            (try web("a"), ""),
            (try web("a") { $0.processors = [Brighten(step: 5)] }, "brighten(5)"),
            (try web("a") { $0.processors = [Brighten(step: 5), Brighten(step: 6)] }, "brighten(5)_brighten(6)"),
            (try web("a") { $0.additionalIdentifier = "own" }, "own"),
            (
                try web("a") {
                    $0.processors = [Brighten(step: 7)]
                    $0.additionalIdentifier = "own"
                }, "brighten(7)own"
            ),
            (try web("a") { $0.scale = 2 }, nil),
        ]
    }

    @Test func `the cache finds what the pipeline stored, by request, identifier and name`() async throws {
        let cache = AutoPurgingImageCache(pressureSource: nil)
        let pipeline = pipeline(cache)
        for (request, identifier) in try requests() {
            let image = try await pipeline.load(request).image
            #expect(cache.image(for: request)?.level == image.level)
            guard let identifier else { continue }
            #expect(cache.image(for: try web("a"), withAdditionalIdentifier: identifier)?.level == image.level)
            #expect(cache.image(withIdentifier: "http://127.0.0.1/a" + identifier)?.level == image.level)
        }
        #expect(cache.image(for: try web("a"), withAdditionalIdentifier: "brighten(9)") == nil)
        #expect(cache.image(for: try web("b")) == nil)
        for (request, _) in try requests() { #expect(cache.removeImage(for: request)) }
        #expect(cache.totalCost == 0)
    }

    @Test func `the pipeline finds what was added by request, identifier and name`() async throws {
        let cache = AutoPurgingImageCache(pressureSource: nil)
        let pipeline = pipeline(cache)
        let image = DecodedImage.gray(side: 1, level: 99)
        for (request, identifier) in try requests() {
            cache.add(image, for: request)
            #expect(try await pipeline.load(request).layer == .memory)
            guard let identifier else { continue }
            cache.removeAll()
            cache.add(image, for: try web("a"), withAdditionalIdentifier: identifier)
            #expect(try await pipeline.load(request).layer == .memory)
            cache.removeAll()
            cache.add(image, withIdentifier: "http://127.0.0.1/a" + identifier)
            #expect(try await pipeline.load(request).image.level == 99)
        }
        #expect(downloader.count == 0)
    }

    @Test func `the pipeline stores only images that should be cached, by request and identifier`() async throws {
        let requested = Watched<[String]>([])
        let cache = AutoPurgingImageCache(pressureSource: nil) { image, request, identifier in
            requested.update { $0.append("\(request.originalKey.resource) \(identifier ?? "-") \(image.level)") }
            return identifier != "brighten(5)"
        }
        let pipeline = pipeline(cache)
        let (plain, bright) = (try web("a"), try web("a") { $0.processors = [Brighten(step: 5)] })
        _ = try await pipeline.load(bright)
        #expect(pipeline.cachedImage(for: bright) == nil)
        #expect(cache.totalCost == 0)
        _ = try await pipeline.load(plain)
        #expect(pipeline.cachedImage(for: plain) != nil)
        #expect(cache.totalCost == 4)
        #expect(requested.value == ["http://127.0.0.1/a brighten(5) 12", "http://127.0.0.1/a - 7"])
    }

    @Test func `a memory warning removes all images from a pipeline's cache`() async throws {
        let source = ManualMemoryPressureSource()
        let cache = AutoPurgingImageCache(pressureSource: source)
        let pipeline = pipeline(cache)
        _ = try await pipeline.load(try web("a"))
        source.set(.warning)
        #expect(pipeline.cachedImage(for: try web("a")) == nil)
        #expect(try await pipeline.load(try web("a")).layer == .network)
    }
}
