import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DiskDamageTests {
    private func stack(onDisk content: Data) async throws -> Stack {
        let stack = Stack(FakeDownloader(giving: level(7)))
        try await stack.disk.store(content, for: try web("a").originalKey)
        return stack
    }

    @Test(arguments: ["fail:corrupt", "fail:truncated", "fail:decoderFailed", "nothing", "<html>", ""])
    func `bytes on disk that are not an image are replaced from the network`(content: String) async throws {
        let stack = try await stack(onDisk: Data(content.utf8))

        let response = try await stack.load(try web("a"))
        await stack.pipeline.flush()

        #expect(response.layer == .network)
        #expect(response.image.level == 7)
        #expect(stack.downloader.count == 1)
        #expect(stack.stored(try web("a")) == level(7))
        #expect(stack.log.words.last == "finished network")
    }

    @Test func `without the network invalid bytes are removed and no image is cached`() async throws {
        let stack = try await stack(onDisk: Data("fail:corrupt".utf8))
        let error = try await stack.failure(try web("a") { $0.cachePolicy = .cacheOnly })
        #expect(error.code == .notInCache)
        #expect(stack.stored(try web("a")) == nil)
        #expect(stack.downloader.count == 0)
    }

    // The bytes may be a valid image, and downloading them again would change nothing.
    @Test(arguments: [
        ImageDecodingError.Code.exceedsLimit, .unsupportedVariant, .timedOut, .outOfMemory, .decoderUnavailable,
    ])
    func `bytes that this request cannot decode stay and are not downloaded again`(
        code: ImageDecodingError.Code
    ) async throws {
        let content = Data("fail:\(code.rawValue)".utf8)
        let stack = try await stack(onDisk: content)

        #expect(try await stack.failure(try web("a")).code == .decoding(code))

        #expect(stack.stored(try web("a")) == content)
        #expect(stack.downloader.count == 0)
    }

    @Test(arguments: [false, true])
    func `a process without the codec of the bytes loads them again once, and then after pauses`(
        readsData: Bool
    ) async throws {
        let content = level(7)
        let clock = ManualClock()
        let disk = FakeDataCache()
        try await disk.store(content, for: try web("a").originalKey)
        let downloader = FakeDownloader(giving: content)
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader, codecs: CodecRegistry([]), diskCache: disk, clock: clock))
        let request = try web("a")
        for (pause, count) in [(0, 1), (0, 1), (1, 2), (1, 2), (1, 3)] {
            clock.advance(by: .seconds(pause))
            let error = await #expect(throws: PipelineError.self) {
                if readsData {
                    _ = try await pipeline.data(for: request)
                } else {
                    _ = try await pipeline.load(request)
                }
            }
            #expect(error?.code == .decoding(.unknownFormat))
            #expect(downloader.count == count)
        }
        #expect(disk.entries.value[request.originalKey]?.data == content)
    }

    @Test func `a damaged image on disk is replaced for a request with its own codecs`() async throws {
        let stack = try await stack(onDisk: Data("wrong:5".utf8))
        let request = try web("a") { $0.codecs = FakeCodec().registry }
        #expect(try await stack.load(request).image.level == 7)
        await stack.pipeline.flush()
        #expect(stack.stored(try web("a")) == level(7))
    }

    @Test(arguments: [false, true])
    func `bytes that another request has decoded stay when a request's own codec rejects them`(
        readsData: Bool
    ) async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        _ = try await stack.load(try web("a"))
        await stack.pipeline.flush()
        let request = try web("a") {
            $0.cachePolicy = CachePolicy(memory: .none)
            $0.codecs = CodecRegistry([
                CodecRegistry.Entry(format: ImageFormat(rawValue: "strict"), decoder: RejectingCodec()) { _ in true }
            ])
        }
        for _ in 0..<2 {
            let error = await #expect(throws: PipelineError.self) {
                if readsData {
                    _ = try await stack.pipeline.data(for: request)
                } else {
                    _ = try await stack.load(request)
                }
            }
            #expect(error?.code == .decoding(.corrupt))
        }
        #expect(stack.stored(try web("a")) == level(7))
        #expect(stack.downloader.count == 1)
    }

    /// Decodes nothing.
    private struct RejectingCodec: ImageDecoding {
        func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            throw ImageDecodingError(.corrupt, "not the own dialect")
        }
    }

    @Test func `bytes in the format of an image are not loaded again for a request without its codec`() async throws {
        let stack = try await stack(onDisk: Data("II*\0".utf8))
        #expect(try await stack.failure(try web("a")).code == .decoding(.unknownFormat))
        #expect(stack.downloader.count == 0)
    }

    @Test func `a request whose image is too large does not remove the bytes`() async throws {
        let stack = try await stack(onDisk: level(7))

        let error = await #expect(throws: PipelineError.self) {
            try await stack.pipeline.data(for: try web("a") { $0.decoding.limits.maximumPixelCount = 0 })
        }

        #expect(error?.code == .decoding(.exceedsLimit))
        #expect(stack.stored(try web("a")) == level(7))
        #expect(try await stack.pipeline.data(for: try web("a")) == level(7))
        #expect(stack.downloader.count == 0)
    }

    @Test(arguments: [
        ImageDecodingError.Code.exceedsLimit, .unsupportedVariant, .timedOut, .outOfMemory, .decoderUnavailable,
    ])
    func `a request for a processed image does not remove the original's bytes`(code: ImageDecodingError.Code)
        async throws
    {
        let stack = try await stack(onDisk: level(7))
        let small = try web("a") {
            $0.processors = [Brighten(step: 1)]
            $0.dataCachePolicy = .both
            $0.cachePolicy.disk = .read
        }
        let content = Data("fail:\(code.rawValue)".utf8)
        try await stack.disk.store(content, for: small.key)

        #expect(try await stack.load(small).image.level == 8)

        await stack.pipeline.flush()
        #expect(stack.disk.entries.value[small.key]?.data == content)
    }

    @Test func `invalid bytes from disk and network end in the network's error`() async throws {
        let stack = Stack(FakeDownloader(giving: Data("fail:truncated".utf8)))
        try await stack.disk.store(Data("fail:corrupt".utf8), for: try web("a").originalKey)
        #expect(try await stack.failure(try web("a")).code == .decoding(.truncated))
        #expect(stack.downloader.count == 1)
    }
}
