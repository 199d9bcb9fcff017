// The code of the article, and what it says of it: `ReadmeTests` compares the two.
import Alcedo
import AlcedoCore
import AlcedoRuntime
import AlcedoTesting
import Synchronization
import Testing

final class PlainMemoryCache: MemoryCaching {
    private let costLimit: Int
    private let images = Mutex<[ImageKey: DecodedImage]>([:])

    init(costLimit: Int) { self.costLimit = costLimit }

    func image(for key: ImageKey) -> DecodedImage? { images.withLock { $0[key] } }

    func contains(_ key: ImageKey) -> Bool { images.withLock { $0[key] != nil } }

    func store(_ image: DecodedImage, for key: ImageKey) {
        images.withLock { images in
            images[key] = nil
            guard image.cost <= costLimit else { return }
            if Self.cost(of: images) + image.cost > costLimit { images.removeAll() }
            images[key] = image
        }
    }

    func remove(_ key: ImageKey) -> Bool { images.withLock { $0.removeValue(forKey: key) != nil } }

    func removeAll(of resource: ResourceKey) -> Int {
        images.withLock { images in
            let variants = images.keys.filter { $0.resource == resource }
            for key in variants { images[key] = nil }
            return variants.count
        }
    }

    func removeAll() { images.withLock { $0.removeAll() } }

    private static func cost(of images: [ImageKey: DecodedImage]) -> Int { images.values.reduce(0) { $0 + $1.cost } }
}

func pipeline() -> ImagePipeline {
    var configuration = ImagePipeline.Configuration.standard()
    configuration.memoryCache = PlainMemoryCache(costLimit: 64 << 20)
    return ImagePipeline(configuration)
}

@Test func pipelineUsesTheCache() async throws {
    let image: DecodedImage = .gray(side: 2)
    let request = ImageRequest(source: .bytes(try ImageEncoder.png().encode(image), identity: "a"))

    let pipeline = pipeline()
    _ = try await pipeline.image(for: request)

    #expect(pipeline.cache[request]?.size == image.size)
}

@Test(arguments: MemoryCacheConformance.checks)
func plainCacheConforms(to check: MemoryCacheConformance.Check) async throws {
    try await check { PlainMemoryCache(costLimit: $0.byteLimit) }
}
