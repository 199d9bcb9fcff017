// The Swift code of README.md, compiled. `ReadmeTests` compares the two.
import Alcedo
import AlcedoCURL
import AlcedoDownloader
import AlcedoJPEG
import AlcedoMemoryCache
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import Testing

let pipeline = ImagePipeline.standard()

func thumbnail(of url: URL) async throws -> DecodedImage? {
    guard var request = ImageRequest(url: url) else { return nil }
    request.processors = [Resize(to: PixelSize(width: 320, height: 320))]
    return try await pipeline.image(for: request)
}

let small = ImagePipeline(
    ImagePipeline.Configuration(
        downloader: Downloader(transport: CURLTransport()),
        codecs: CodecRegistry([.jpeg]),
        memoryCache: ImageMemoryCache(costLimit: 32 << 20)))

@Test(arguments: MemoryCacheConformance.checks)
func conforms(to check: MemoryCacheConformance.Check) async throws {
    try await check { ImageMemoryCache(costLimit: $0.costLimit) }
}
