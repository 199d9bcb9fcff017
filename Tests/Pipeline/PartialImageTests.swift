import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PartialImageTests {
    private let part = Data("part:9".utf8)

    private func partial(_ change: (inout ImageRequest) -> Void = { _ in }) throws -> ImageRequest {
        try web("a") {
            $0.decoding.allowsPartial = true
            change(&$0)
        }
    }

    @Test func `a partial image is returned to requests that allow it, and is not stored`() async throws {
        let stack = Stack(FakeDownloader(giving: part))
        for round in 1...2 {
            let response = try await stack.load(try partial())
            await stack.pipeline.flush()

            #expect(response.image.level == 9)
            #expect(response.image.partialError?.code == .truncated)
            #expect(response.layer == .network)
            #expect(stack.memory.count == 0)
            #expect(stack.disk.stores.value == 0)
            #expect(stack.pipeline.cachedImage(for: try partial()) == nil)
            #expect(stack.downloader.count == round)
        }
    }

    @Test func `a request that allows no partial image receives an error`() async throws {
        let stack = Stack(FakeDownloader(giving: part))
        #expect(try await stack.failure(try web("a")).code == .decoding(.truncated))
    }

    @Test func `an image with wrong pixels is kept in memory only, and refused to a strict request`() async throws {
        let wrong = Data("wrong:7".utf8)
        let stack = Stack(FakeDownloader(giving: wrong))
        let request = try web("a") { $0.processors = [Brighten(step: 1)] }

        let response = try await stack.load(request)
        await stack.pipeline.flush()

        #expect(response.image.damage?.kind == .wrongPixels)
        #expect(!response.image.isPartial)
        #expect(stack.pipeline.cachedImage(for: request)?.damage == response.image.damage)
        #expect(stack.disk.stores.value == 0)
        var strict = request
        strict.decoding.tolerance = .harmless
        #expect(stack.pipeline.cachedImage(for: strict) == nil)
        #expect(try await stack.failure(strict).code == .decoding(.corrupt))
        #expect(stack.pipeline.cachedImage(for: request)?.damage == response.image.damage)
    }

    @Test func `a complete image is stored although a partial one was allowed`() async throws {
        let stack = Stack(FakeDownloader(giving: level(5)))
        let request = try partial()
        _ = try await stack.load(request)
        await stack.pipeline.flush()
        #expect(stack.memory.count == 1)
        #expect(stack.stored(request) == level(5))
    }

    @Test func `a partial image stays partial after processing`() async throws {
        let stack = Stack(FakeDownloader(giving: part))
        // This processor makes a new image without marking it as partial.
        let response = try await stack.load(try partial { $0.processors = [Brighten(step: 1)] })
        await stack.pipeline.flush()
        #expect(response.image.level == 10)
        #expect(response.image.isPartial)
        #expect(stack.memory.count == 0)
        #expect(stack.disk.stores.value == 0)
    }

    @Test func `a partial image from disk is replaced by the complete one from the source`() async throws {
        let stack = Stack(FakeDownloader(giving: level(5)))
        let request = try partial()
        try await stack.disk.store(part, for: request.originalKey)

        let response = try await stack.load(request)
        await stack.pipeline.flush()

        #expect(response.image.level == 5)
        #expect(!response.image.isPartial)
        #expect(response.layer == .network)
        #expect(stack.stored(request) == level(5))
    }

    @Test(arguments: [true, false])
    func `a partial image from disk is returned when the source fails, and is not stored`(hasNetwork: Bool) async throws
    {
        struct Offline: Error {}
        let stack = Stack(FakeDownloader { _, _ in throw Offline() })
        let request = try partial { if !hasNetwork { $0.cachePolicy.allowsNetwork = false } }
        try await stack.disk.store(part, for: request.originalKey)

        let response = try await stack.load(request)

        #expect(response.image.level == 9)
        #expect(response.image.isPartial)
        #expect(response.layer == .disk)
        #expect(stack.downloader.count == (hasNetwork ? 1 : 0))
        #expect(stack.stored(request) == nil)
        #expect(stack.memory.count == 0)
    }

    @Test func `an animation keeps the frames that a processor keeps, if they have its size`() async throws {
        let stack = Stack(FakeDownloader(giving: Data("anim:3".utf8)))
        let animated = try await stack.load(try web("a"))
        let untouched = try await stack.load(try web("a") { $0.processors = [Untouched()] })
        let still = try await stack.load(try web("a") { $0.processors = [Brighten(step: 1)] })
        let grown = try await stack.load(try web("a") { $0.processors = [Grow()] })
        #expect(animated.image.frames?.frameCount == 2)
        #expect(untouched.image.frames?.frameCount == 2)
        #expect(still.image.frames == nil)
        #expect(still.image.level == 4)
        #expect(grown.image.frames == nil)
        #expect(grown.image.size == PixelSize(width: 2, height: 2))
    }
}
