import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoPipeline
import AlcedoProcessing
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Overlays that a pipeline loads. The key of an image contains their pixels, not their places.
@Suite(.timeLimit(.minutes(10)))
struct OverlayLoadTests {
    private let directory: TemporaryDirectory
    private let memory = DictionaryMemoryCache()
    private let disk = FakeDataCache()
    private let pipeline: ImagePipeline

    init() throws {
        directory = try TemporaryDirectory()
        let transport = FakeTransport { request in
            let body = request.url.path().hasSuffix("logo") ? level(200) : level(100)
            return HTTPResponse(head: HTTPResponseHead(url: request.url, status: 200), body: HTTPBody(body))
        }
        pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(transport: transport), codecs: FakeCodec().registry, memoryCache: memory,
                diskCache: disk, writeTimeout: .seconds(3_600)))
    }

    private var file: URL { directory.url.appending(path: "logo") }

    /// Returns a request for the image of level 100 under the image of `overlay`.
    private func request(under overlay: ImageRequest) async throws -> ImageRequest {
        let pixels = try await pipeline.image(for: overlay).pixels
        return try web("photo") { $0.processors = [.overlay(pixels, opacity: 0.5)] }
    }

    @Test func `an overlay comes from a URL, a file or bytes, and equal pixels give one image`() async throws {
        try level(200).write(to: file)
        let sources = [
            try web("logo"), ImageRequest(url: file),
            ImageRequest(source: .bytes(level(200), identity: "logo")),
        ]

        let first = try await request(under: sources[0])
        let response = try await pipeline.load(first)
        #expect(response.image.level == 150)
        #expect(response.layer == .network)
        for source in sources.dropFirst() {
            let other = try await request(under: source)
            #expect(other.key == first.key)
            #expect(try await pipeline.load(other).layer == .memory)
        }
    }

    @Test func `an overlay that changes at the same place gives another image`() async throws {
        try level(200).write(to: file)
        let first = try await request(under: ImageRequest(url: file))
        #expect(try await pipeline.load(first).image.level == 150)

        try level(40).write(to: file)
        let second = try await request(under: ImageRequest(url: file))

        #expect(second.key != first.key)
        #expect(second.originalKey == first.originalKey)
        #expect(try await pipeline.load(second).image.level == 70)
        #expect(try await pipeline.load(first).image.level == 150)
    }

    @Test func `a stored image with an overlay is found on disk by the pixels of the overlay`() async throws {
        try level(200).write(to: file)
        var stored = try await request(under: ImageRequest(url: file))
        stored.dataCachePolicy = .processed
        _ = try await pipeline.load(stored)
        await pipeline.flush()
        memory.removeAll()

        #expect(try await pipeline.load(stored).layer == .disk)
        try level(40).write(to: file)
        var changed = try await request(under: ImageRequest(url: file))
        changed.dataCachePolicy = .processed
        #expect(try await pipeline.load(changed).image.level == 70)
    }
}
