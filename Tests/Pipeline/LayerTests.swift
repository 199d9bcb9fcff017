import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct LayerTests {
    private let stack = Stack(FakeDownloader(giving: level(7)))

    @Test func `an image comes from the network, then from memory, then from disk`() async throws {
        let request = try web("a")

        let first = try await stack.load(request)
        #expect(first.layer == .network)
        #expect(first.image.level == 7)
        #expect(first.encodedByteCount == 7)
        let second = try await stack.load(request)
        #expect(second.layer == .memory)
        #expect(second.image.level == 7)
        #expect(second.encodedByteCount == nil)

        await stack.pipeline.flush()
        stack.memory.removeAll()
        let third = try await stack.load(request)
        #expect(third.layer == .disk)
        #expect(third.image.level == 7)
        #expect(third.encodedByteCount == 7)
        #expect(stack.downloader.count == 1)
        #expect(stack.codec.decodes.value == 2)
        #expect(stack.memory.count == 1)
    }

    @Test func `each step is reported in order`() async throws {
        let request = try web("a") { $0.processors = [Brighten(step: 1), Brighten(step: 2)] }
        _ = try await stack.load(request)
        _ = try await stack.load(request)

        #expect(
            stack.log.words == [
                "memory miss", "disk miss", "downloaded 7", "decoded 1 x 1", "processed brighten(1)",
                "processed brighten(2)", "finished network", "memory hit",
            ])
    }

    @Test func `a variant is made from the original on disk and stored under its own key`() async throws {
        _ = try await stack.load(try web("a"))
        await stack.pipeline.flush()

        let bright = try await stack.load(
            try web("a") {
                $0.processors = [Brighten(step: 3)]
                $0.cachePolicy.memory = .write
            })

        #expect(bright.layer == .disk)
        #expect(bright.image.level == 10)
        #expect(stack.downloader.count == 1)
        #expect(stack.pipeline.cachedImage(for: try web("a"))?.level == 7)
        #expect(stack.disk.entries.value.count == 1)
    }

    @Test func `local sources are read each time and never stored on disk`() async throws {
        for source in [ImageSource.file("/a"), .dataURL("data:,"), .bytes(Data([1]), identity: "b")] {
            let response = try await stack.load(ImageRequest(source: source))
            #expect(response.layer == .local)
            #expect(stack.pipeline.cachedImage(for: ImageRequest(source: source))?.level == 7)
        }
        await stack.pipeline.flush()
        #expect(stack.disk.stores.value == 0)
        #expect(stack.disk.reads.value == 0)
        #expect(stack.downloader.count == 3)
    }

    @Test(arguments: [false, true])
    func `the downloader learns whether a request skips its queue`(skipsQueue: Bool) async throws {
        _ = try await stack.load(try web("a") { $0.skipsQueue = skipsQueue })
        #expect(stack.downloader.requests.value.map(\.skipsQueue) == [skipsQueue])
    }

    @Test func `a provider's bytes are stored like a server's`() async throws {
        let request = ImageRequest(source: .provider(identity: "p") { Data() })
        #expect(try await stack.load(request).layer == .network)
        await stack.pipeline.flush()
        #expect(stack.stored(request) == level(7))
    }

    @Test func `a cached image is returned at once, and only when the request may read it`() async throws {
        let request = try web("a")
        #expect(stack.pipeline.cachedImage(for: request) == nil)
        _ = try await stack.load(request)

        // Not async. This would not compile if it were.
        let look: () -> DecodedImage? = { stack.pipeline.cachedImage(for: request) }

        #expect(look()?.level == 7)
        #expect(stack.pipeline.cachedImage(for: try web("a") { $0.cachePolicy = .reload }) == nil)
        #expect(stack.pipeline.cachedImage(for: try web("b")) == nil)
    }

    @Test func `a pipeline works without caches and observers`() async throws {
        let downloader = FakeDownloader(giving: level(1))
        let pipeline = ImagePipeline(.init(downloader: downloader, codecs: FakeCodec().registry))
        for _ in 0..<2 { #expect(try await pipeline.load(try web("a")).layer == .network) }
        #expect(downloader.count == 2)
        #expect(pipeline.cachedImage(for: try web("a")) == nil)
        await pipeline.flush()
    }

    @Test func `the downloader receives the priority, and the caller receives the progress`() async throws {
        let stack = Stack(
            FakeDownloader { _, progress in
                progress(DownloadProgress(received: 3, expected: 7))
                return Download(data: level(1))
            })
        let steps = Watched<[DownloadProgress]>([])
        _ = try await stack.pipeline.load(try web("a") { $0.priority = .veryHigh }) { step in
            steps.update { $0.append(step) }
        }
        #expect(steps.value == [DownloadProgress(received: 3, expected: 7)])
        #expect(stack.downloader.requests.value.map(\.priority.value) == [.veryHigh])
    }
}
