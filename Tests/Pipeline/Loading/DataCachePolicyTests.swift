import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DataCachePolicyTests {
    /// The entries on disk after a plain load and after one of a variant: the original, the variant.
    private static let rows: [(DataCachePolicy, plain: Bool, original: Bool, variant: Bool)] = [
        (.original, true, true, false), (.processed, true, false, true), (.both, true, true, true),
    ]

    @Test(arguments: rows)
    func `the request decides what is stored on disk`(
        content: DataCachePolicy, plain: Bool, original: Bool, variant: Bool
    ) async throws {
        let simple = Stack(FakeDownloader(giving: level(7)))
        let request = try web("a") { $0.dataCachePolicy = content }
        _ = try await simple.load(request)
        await simple.pipeline.flush()
        #expect(await simple.disk.contains(request.originalKey) == plain)

        let stack = Stack(FakeDownloader(giving: level(7)))
        let bright = try web("a") {
            $0.processors = [Brighten(step: 1)]
            $0.dataCachePolicy = content
        }
        _ = try await stack.load(bright)
        await stack.pipeline.flush()
        #expect(await stack.disk.contains(bright.originalKey) == original)
        #expect(await stack.disk.contains(bright.key) == variant)
    }

    @Test func `a variant on disk is neither downloaded nor processed again`() async throws {
        let disk = FakeDataCache()
        let step = Brighten(step: 1)
        let request = try web("a") {
            $0.processors = [step]
            $0.dataCachePolicy = .processed
        }
        let first = Stack(FakeDownloader(giving: level(7)), disk: disk)
        _ = try await first.load(request)
        await first.pipeline.flush()

        let second = Stack(FakeDownloader(giving: level(50)), disk: disk)
        let response = try await second.load(request)

        #expect(response.image.level == 8)
        #expect(response.layer == .disk)
        #expect(second.downloader.count == 0)
        #expect(step.runs.value == 1)
    }

    @Test func `a variant on disk that is not an image is made again`() async throws {
        let request = try web("a") {
            $0.processors = [Brighten(step: 1)]
            $0.dataCachePolicy = .processed
        }
        let stack = Stack(FakeDownloader(giving: level(7)))
        try await stack.disk.store(CachedData(Data("fail:corrupt".utf8)), for: request.key)

        #expect(try await stack.load(request).image.level == 8)
        await stack.pipeline.flush()
        #expect(await stack.disk.data(for: request.key) == level(8))
        #expect(stack.log.words.contains("disk miss"))
    }

    @Test func `content that the server forbids to store is stored in no form`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7), fields: ["Cache-Control": "no-store"]))
        let bright = try web("a") {
            $0.processors = [Brighten(step: 1)]
            $0.dataCachePolicy = .both
        }
        _ = try await stack.load(bright)
        // The second variant is made from the first, which is in memory.
        _ = try await stack.load(
            try web("a") {
                $0.processors = [Brighten(step: 1), Brighten(step: 2)]
                $0.dataCachePolicy = .both
            })
        await stack.pipeline.flush()
        #expect(stack.disk.count == 0)
    }

    @Test(arguments: [true, false])
    func `a variant made of an image in memory is stored, too`(isDecoded: Bool) async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        func request(_ steps: [UInt8]) throws -> ImageRequest {
            try web("a") {
                $0.processors = steps.map { Brighten(step: $0) }
                $0.dataCachePolicy = .processed
            }
        }
        // From the image in the memory cache, or from the decoded one that is held for a while.
        _ = try await stack.load(try request([1]))
        let second = try request(isDecoded ? [2] : [1, 2])
        #expect(try await stack.load(second).layer == .memory)
        await stack.pipeline.flush()
        #expect(stack.downloader.count == 1)
        #expect(await stack.disk.contains(second.key))
    }

    @Test func `a request that stores the original stores it although another has loaded it before`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        func request(_ step: UInt8, _ content: DataCachePolicy) throws -> ImageRequest {
            try web("a") {
                $0.processors = [Brighten(step: step)]
                $0.dataCachePolicy = content
            }
        }
        _ = try await stack.load(try request(1, .processed))
        await stack.pipeline.flush()
        #expect(stack.stored(try web("a")) == nil)

        let response = try await stack.load(try request(2, .original))

        await stack.pipeline.flush()
        #expect(response.layer == .memory)
        #expect(response.encodedByteCount == nil)
        #expect(stack.stored(try web("a")) == level(7))
        #expect(stack.downloader.count == 1)
    }

    @Test func `a process without the codec leaves the processed images of another`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let request = try web("a") {
            $0.processors = [Brighten(step: 1)]
            $0.dataCachePolicy = .processed
        }
        _ = try await stack.load(request)
        await stack.pipeline.flush()
        let next = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: stack.downloader, codecs: CodecRegistry([]), diskCache: stack.disk))
        await #expect(throws: PipelineError.self) { try await next.load(request) }
        await next.flush()

        #expect(await stack.disk.contains(request.key))
    }

    @Test func `the variant of a file is stored on request, and the file is not`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        var request = ImageRequest(source: .file("/a"), processors: [Brighten(step: 1)])
        request.dataCachePolicy = .processed
        #expect(try await stack.load(request).layer == .local)
        await stack.pipeline.flush()
        #expect(await stack.disk.contains(request.key))
        #expect(stack.disk.count == 1)
    }

    @Test func `requests with different storage policies do not affect one another`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let (one, two) = (
            try web("a") { $0.dataCachePolicy = .processed },
            try web("a") {
                $0.processors = [Brighten(step: 1)]
                $0.dataCachePolicy = .processed
            }
        )
        async let first = stack.load(two)
        async let second = stack.load(one)
        _ = try await (first, second)
        await stack.pipeline.flush()
        #expect(await stack.disk.contains(one.originalKey))
        #expect(await stack.disk.contains(two.key))
    }

    @Test func `data can be loaded without decoding and is stored when it begins like an image`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        #expect(try await stack.pipeline.data(for: try web("a")) == level(7))
        await stack.pipeline.flush()
        #expect(stack.stored(try web("a")) == level(7))
        #expect(stack.codec.decodes.value == 0)

        let wrong = Stack(FakeDownloader(giving: Data("<html>".utf8)))
        let error = await #expect(throws: PipelineError.self) {
            try await wrong.pipeline.data(for: try web("a"))
        }
        #expect(error?.code == .decoding(.unknownFormat))
        await wrong.pipeline.flush()
        #expect(wrong.disk.count == 0)
    }
}
