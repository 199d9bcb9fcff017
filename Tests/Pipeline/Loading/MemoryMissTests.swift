import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// An observer receives the reason of each memory miss.
@Suite(.timeLimit(.minutes(10)))
struct MemoryMissTests {
    private let clock = ManualClock()

    private func stack(giving data: Data = level(7), fields: HTTPFields = [:]) -> Stack {
        Stack(FakeDownloader(giving: data, fields: fields), clock: clock)
    }

    /// Loads an image, and returns the reason why memory did not have it; nil for a hit.
    private func reason(_ stack: Stack, _ request: ImageRequest) async throws -> CacheMissReason? {
        let before = stack.log.events.value.count
        _ = try await stack.load(request)
        await stack.pipeline.flush()
        let reasons = stack.log.events.value.dropFirst(before).compactMap { event -> CacheMissReason? in
            if case .memoryMiss(let reason) = event.stage { reason } else { nil }
        }
        #expect(reasons.count <= 1)
        return reasons.first
    }

    @Test func `an image that was never stored, and one that must not be read`() async throws {
        let stack = stack()
        #expect(try await reason(stack, try web("a")) == .notStored)
        #expect(try await reason(stack, try web("a")) == nil)
        #expect(try await reason(stack, try web("a") { $0.cachePolicy.memory.reads = false }) == .notAllowed)
        #expect(try await reason(stack, try web("b")) == .notStored)
    }

    @Test func `an image that the cache has evicted, and one that the app has removed`() async throws {
        let stack = stack()
        let request = try web("a")
        _ = try await stack.load(request)
        _ = stack.memory.remove(request.key)
        #expect(try await reason(stack, request) == .evicted)

        await stack.pipeline.cache.remove(request, from: .memory)
        #expect(try await reason(stack, request) == .notStored)
        await stack.pipeline.cache.remove(request, allVariants: true)
        #expect(try await reason(stack, request) == .notStored)
        await stack.pipeline.cache.removeAllImages()
        #expect(try await reason(stack, request) == .notStored)
        #expect(try await reason(stack, request) == nil)
    }

    @Test func `an image whose time to live is over`() async throws {
        let stack = stack()
        let request = try web("a") { $0.memoryTimeToLive = .seconds(60) }
        _ = try await stack.load(request)
        // Without it, the cache has no such image: the one of these tests knows no times.
        _ = stack.memory.remove(request.key)
        clock.advance(by: .seconds(59))
        #expect(try await reason(stack, request) == .evicted)
        _ = stack.memory.remove(request.key)
        clock.advance(by: .seconds(60))
        #expect(try await reason(stack, request) == .expired)
    }

    @Test func `a damaged image whose source is asked again`() async throws {
        let stack = stack(giving: Data("wrong:7".utf8))
        let request = try web("a")
        #expect(try await reason(stack, request) == .notStored)
        #expect(try await reason(stack, request) == nil)
        clock.advance(by: .seconds(2))
        #expect(try await reason(stack, request) == .damaged)
        #expect(stack.log.events.value.filter { $0.level == .warning }.count == 1)
    }

    @Test func `an image at a smaller size, and one at a larger size that is not accepted`() async throws {
        let stack = stack()
        func request(_ side: Int?, accepts: Bool = false) throws -> ImageRequest {
            try web("a") {
                $0.decoding.target = side.map { TargetSize(width: $0, height: $0) }
                $0.acceptsLargerCachedImage = accepts
            }
        }
        #expect(try await reason(stack, try request(20)) == .notStored)
        #expect(try await reason(stack, try request(40)) == .tooSmall)
        #expect(try await reason(stack, try request(30)) == .otherSize)
        #expect(try await reason(stack, try request(10, accepts: true)) == nil)
        #expect(try await reason(stack, try request(80, accepts: true)) == .tooSmall)
        #expect(try await reason(stack, try request(nil)) == .tooSmall)
        #expect(try await reason(stack, try request(25)) == .otherSize)
    }

    @Test func `an image with other processors or options`() async throws {
        let stack = stack()
        let bright = try web("a") { $0.processors = [Brighten(step: 1)] }
        _ = try await stack.load(bright)
        #expect(try await reason(stack, try web("a") { $0.processors = [Brighten(step: 2)] }) == .otherProcessors)
        #expect(try await reason(stack, try web("a")) == .otherProcessors)

        // The most similar image counts.
        var twice = bright
        twice.scale = 2
        #expect(try await reason(stack, twice) == .otherOptions)
        var other = bright
        other.additionalIdentifier = "of another user"
        #expect(try await reason(stack, other) == .notStored)
    }

    @Test func `an image for other values of the fields by which its server varies`() async throws {
        let stack = stack(fields: ["Vary": "X-Token"])
        func request(_ token: String) throws -> ImageRequest {
            let url = try #require(URL(string: "http://127.0.0.1/a"))
            return ImageRequest(source: .http(HTTPRequest(url: url, fields: ["X-Token": token])))
        }
        #expect(try await reason(stack, try request("1")) == .notStored)
        #expect(try await reason(stack, try request("2")) == .otherFields)
        #expect(try await reason(stack, try request("1")) == nil)
    }

    @Test func `an image of another version of a file`() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "picture")
        let stack = stack()
        let request = ImageRequest(source: .file(file.path))
        try level(7).write(to: file)
        #expect(try await reason(stack, request) == .notStored)
        try level(17).write(to: file)
        #expect(try await reason(stack, request) == .otherVersion)
        #expect(try await reason(stack, request) == nil)
    }

    @Test func `without a memory cache, the reason is that there is none`() async throws {
        let log = Log()
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: FakeDownloader(giving: level(7)), codecs: FakeCodec().registry, observers: [log]))
        _ = try await pipeline.load(try web("a"))
        guard case .memoryMiss(.noCache)? = log.events.value.first?.stage else {
            Issue.record("the first event is \(String(describing: log.events.value.first))")
            return
        }
    }
}
