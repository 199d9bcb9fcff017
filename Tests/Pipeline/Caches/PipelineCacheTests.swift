import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PipelineCacheTests {
    private let clock = ManualClock()

    private func bright(_ content: DataCachePolicy? = nil) throws -> ImageRequest {
        try web("a") {
            $0.processors = [Brighten(step: 1)]
            $0.dataCachePolicy = content
        }
    }

    private var waiting: Stack {
        Stack(
            FakeDownloader { [clock] _, _ in
                try await clock.sleep(for: .seconds(1))
                return Download(data: level(7))
            })
    }

    // MARK: Memory

    @Test func `the image of a request can be set, read and removed in memory`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let request = try web("a") { $0.scale = 2 }
        #expect(stack.pipeline.cache[request] == nil)

        stack.pipeline.cache[request] = .gray(side: 1, level: 9)

        #expect(stack.pipeline.cache[request]?.level == 9)
        #expect(stack.pipeline.cache[request]?.scale == 2)
        let response = try await stack.load(request)
        #expect(response.image.level == 9)
        #expect(response.layer == .memory)
        #expect(stack.downloader.count == 0)
        #expect(stack.disk.count == 0)

        stack.pipeline.cache[request] = nil
        #expect(stack.pipeline.cache[request] == nil)
        #expect(try await stack.load(request).image.level == 7)
    }

    @Test func `a loaded image is read by the same subscript`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        _ = try await stack.load(try bright())
        #expect(stack.pipeline.cache[try bright()]?.level == 8)
        #expect(stack.pipeline.cache[try web("a")] == nil)
    }

    @Test func `setting follows the request's cache policy and stores no partial image`() throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        stack.pipeline.cache[try web("a") { $0.cachePolicy.memory = .read }] = .gray(side: 1, level: 9)
        var part = DecodedImage.gray(side: 1, level: 9)
        part.partialError = ImageDecodingError(.truncated, "the end is missing")
        stack.pipeline.cache[try web("b")] = part
        #expect(stack.memory.count == 0)
    }

    @Test func `a load that is in progress does not replace an image that was set meanwhile`() async throws {
        let stack = waiting
        let load = Task { try await stack.load(try web("a")).image.level }
        try await clock.waitForSleepers(count: 1)

        stack.pipeline.cache[try web("a")] = .gray(side: 1, level: 9)
        clock.advance(by: .seconds(1))

        #expect(try await load.value == 7)
        #expect(stack.pipeline.cache[try web("a")]?.level == 9)
    }

    @Test func `a load in progress is stored however many other images are removed`() async throws {
        let stack = waiting
        let load = Task { try await stack.load(try web("a")).image.level }
        try await clock.waitForSleepers(count: 1)

        for number in 0..<10_000 { stack.pipeline.cache[try web("other\(number)")] = nil }
        clock.advance(by: .seconds(1))

        #expect(try await load.value == 7)
        #expect(stack.pipeline.cache[try web("a")]?.level == 7)
        await stack.pipeline.flush()
        #expect(stack.stored(try web("a")) == level(7))
    }

    @Test func `a load is not stored if its image was removed before thousands of others`() async throws {
        let stack = waiting
        let load = Task { try await stack.load(try web("a")).image.level }
        try await clock.waitForSleepers(count: 1)

        stack.pipeline.cache[try web("a")] = nil
        for number in 0..<10_000 { stack.pipeline.cache[try web("other\(number)")] = nil }
        clock.advance(by: .seconds(1))

        #expect(try await load.value == 7)
        #expect(stack.pipeline.cache[try web("a")] == nil)
    }

    // MARK: Memory and disk

    @Test func `storing a request's image writes it to disk`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))

        try await stack.pipeline.cache.store(.gray(side: 1, level: 9), for: try web("a"))

        #expect(await stack.pipeline.cache.contains(try web("a")) == [.memory, .original])
        #expect(stack.stored(try web("a")) == level(9))
        stack.memory.removeAll()
        #expect(try await stack.load(try web("a")).image.level == 9)
        #expect(try await stack.load(try bright()).image.level == 10)
        #expect(stack.downloader.count == 0)
    }

    @Test func `a processed image is written to disk only where processed images are stored`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        try await stack.pipeline.cache.store(.gray(side: 1, level: 9), for: try bright(.original))
        #expect(await stack.pipeline.cache.contains(try bright()) == .memory)

        try await stack.pipeline.cache.store(.gray(side: 1, level: 9), for: try bright(.processed))
        #expect(await stack.pipeline.cache.contains(try bright()) == [.memory, .processed])
        stack.memory.removeAll()
        let response = try await stack.load(try bright(.processed))
        #expect(response.image.level == 9)
        #expect(response.layer == .disk)
        #expect(stack.downloader.count == 0)
    }

    @Test func `storing follows the request's disk policy`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        try await stack.pipeline.cache.store(
            .gray(side: 1, level: 9), for: try web("a") { $0.cachePolicy.disk = .read })
        #expect(await stack.pipeline.cache.contains(try web("a")) == .memory)
    }

    @Test func `an image that the disk refuses stays in memory, and the caller receives the error`() async throws {
        let stack = Stack(
            FakeDownloader(giving: level(7)), disk: FakeDataCache { _ in throw DataCacheError(.noSpace, "full") })

        let error = await #expect(throws: PipelineError.self) {
            try await stack.pipeline.cache.store(.gray(side: 1, level: 9), for: try web("a"))
        }

        #expect(error?.code == .notStored)
        #expect((error?.cause as? DataCacheError)?.code == .noSpace)
        let url = try #require(try web("a").url).absoluteString
        #expect(error?.description.contains(url) == true)
        #expect(await stack.pipeline.cache.contains(try web("a")) == .memory)
    }

    @Test func `a partial image is not stored, and nothing is stored after shutdown`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        var part = DecodedImage.gray(side: 1, level: 9)
        part.partialError = ImageDecodingError(.truncated, "the end is missing")
        let partError = await #expect(throws: PipelineError.self) {
            try await stack.pipeline.cache.store(part, for: try web("a"))
        }
        await stack.pipeline.shutDown()
        let lateError = await #expect(throws: PipelineError.self) {
            try await stack.pipeline.cache.store(.gray(side: 1, level: 9), for: try web("a"))
        }
        stack.pipeline.cache[try web("a")] = .gray(side: 1, level: 9)

        #expect(partError?.code == .notStored)
        #expect(lateError?.code == .shutDown)
        #expect(stack.memory.count == 0)
        #expect(stack.disk.count == 0)
    }

    @Test func `removing all images clears memory and disk, and a load in progress restores none`()
        async throws
    {
        let stack = waiting
        for name in ["a", "b"] {
            try await stack.pipeline.cache.store(.gray(side: 1, level: 9), for: try web(name))
        }
        let load = Task { try await stack.load(try web("c")).image.level }
        try await clock.waitForSleepers(count: 1)

        await stack.pipeline.cache.removeAll()
        clock.advance(by: .seconds(1))

        #expect(try await load.value == 7)
        await stack.pipeline.flush()
        #expect(stack.memory.count == 0)
        #expect(stack.disk.count == 0)
    }

    @Test func `layers print their members`() {
        #expect(CachedLayers.all.description == "[memory, processed, original, response]")
        #expect("\([.memory, .original] as CachedLayers)" == "[memory, original]")
        #expect(CachedLayers().description == "[]")
    }
}
