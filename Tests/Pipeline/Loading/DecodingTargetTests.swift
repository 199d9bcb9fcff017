import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// The decoding target that a pipeline derives from the first processor.
@Suite(.timeLimit(.minutes(10)))
struct DecodingTargetTests {
    private let codec = ShrinkingCodec()
    private let memory = DictionaryMemoryCache()
    private let pipeline: ImagePipeline
    private let target = TargetSize(PixelSize(width: 20, height: 20))

    init() {
        pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: FakeDownloader(giving: Data("picture".utf8)), codecs: codec.registry, memoryCache: memory,
                diskCache: FakeDataCache(), clock: ManualClock(), intermediateByteLimit: 1 << 20))
    }

    private func request(_ processors: any ImageProcessing...) throws -> ImageRequest {
        try web("a") { $0.processors = processors }
    }

    @Test func `an image is decoded toward the first processor's target`() async throws {
        let shrink = Shrink(target)
        let response = try await pipeline.load(try request(shrink, Shrink(TargetSize(PixelSize(width: 1, height: 1)))))

        #expect(codec.targets.value == [target])
        #expect(shrink.sizes.value == [PixelSize(width: 20, height: 15)])
        #expect(shrink.fullSizes.value == [ShrinkingCodec.size])
        #expect(response.image.reduction == nil)
    }

    @Test func `the decode budget counts the smaller image`() async throws {
        _ = try await pipeline.load(try request(Shrink(target)))

        #expect(codec.countedTargets.value == [target])
    }

    @Test func `the key of a request does not depend on the derived decoding target`() throws {
        let (with, without) = (try request(Shrink(target)), try request(Shrink(nil)))

        #expect(with.derivedTarget == target)
        #expect(without.derivedTarget == nil)
        #expect(with.key == without.key)
        #expect(with.originalKey == without.originalKey)
    }

    @Test func `a request's own target and stored orientation are decoded as requested`() async throws {
        let own = TargetSize(PixelSize(width: 10, height: 10), mode: .fill)
        var sized = try request(Shrink(target))
        sized.decoding.target = own
        var stored = try request(Shrink(target))
        stored.decoding.appliesOrientation = false
        _ = try await pipeline.load(sized)
        _ = try await pipeline.load(stored)

        #expect(codec.targets.value == [own, nil])
    }

    @Test func `an image without processors or without a target is decoded at full size`()
        async throws
    {
        _ = try await pipeline.load(try request())
        _ = try await pipeline.load(try web("b") { $0.processors = [Brighten(step: 1), Shrink(target)] })

        #expect(codec.targets.value == [nil, nil])
    }

    @Test func `a smaller image is not found under the key of the full size`() async throws {
        _ = try await pipeline.load(try request(Shrink(target)))
        let plain = try request()
        #expect(pipeline.cachedImage(for: plain) == nil)
        #expect(memory.count == 1)

        let whole = try await pipeline.load(plain)

        #expect(whole.image.size == ShrinkingCodec.size)
        #expect(whole.image.reduction == nil)
        #expect(codec.targets.value == [target, nil])
        await pipeline.flush()
        #expect(pipeline.cachedImage(for: plain)?.size == ShrinkingCodec.size)
    }

    @Test func `a smaller image is not shared with a request that sets the same target itself`() async throws {
        let (derived, explicit) = (Shrink(target), Shrink(target))
        _ = try await pipeline.load(try request(derived))
        var sized = try request(explicit)
        sized.decoding.target = target
        _ = try await pipeline.load(sized)

        #expect(derived.fullSizes.value == [ShrinkingCodec.size])
        #expect(explicit.fullSizes.value == [nil])
    }

    @Test(arguments: [true, false])
    func `a full-size image in memory is used instead of a smaller decode`(isInMemory: Bool) async throws {
        // In the memory cache, or only held before its processors.
        _ = try await pipeline.load(try isInMemory ? request() : request(Brighten(step: 1)))
        let shrink = Shrink(target)

        _ = try await pipeline.load(try request(shrink))

        #expect(codec.targets.value == [nil])
        #expect(shrink.sizes.value == [ShrinkingCodec.size])
        #expect(shrink.fullSizes.value == [nil])
    }

    @Test func `each first processor with a target filters the rows of a decode of its own`() async throws {
        _ = try await pipeline.load(try request(Shrink(target, "a")))
        _ = try await pipeline.load(try request(Shrink(target, "b")))
        let other = TargetSize(PixelSize(width: 30, height: 30))
        _ = try await pipeline.load(try request(Shrink(other, "c")))

        #expect(codec.targets.value == [target, target, other])
    }

    @Test func `an image that the decoder does not reduce reports no other full size`() async throws {
        let shrink = Shrink(TargetSize(PixelSize(width: 400, height: 400)))

        _ = try await pipeline.load(try request(shrink))

        #expect(shrink.sizes.value == [ShrinkingCodec.size])
        #expect(shrink.fullSizes.value == [nil])
    }
}

/// Decodes everything as 40 x 30 gray pixels, or fewer toward a target. Records the targets.
private struct ShrinkingCodec: ImageDecoding {
    static let size = PixelSize(width: 40, height: 30)

    let targets = Watched<[TargetSize?]>([])
    let countedTargets = Watched<[TargetSize?]>([])

    var registry: CodecRegistry {
        CodecRegistry([CodecRegistry.Entry(format: ImageFormat(rawValue: "picture"), decoder: self) { _ in true }])
    }

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        Reader(self)
    }

    private final class Reader: ImageReading {
        private let codec: ShrinkingCodec

        init(_ codec: ShrinkingCodec) { self.codec = codec }

        let header = ImageHeader(format: ImageFormat(rawValue: "picture"), size: ShrinkingCodec.size)

        func info() throws(ImageDecodingError) -> ImageInfo { ImageInfo(format: header.format, size: header.size) }

        func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
            codec.countedTargets.update { $0.append(options.target) }
            return 1_200
        }

        func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            codec.targets.update { $0.append(options.target) }
            return .coordinates(options.target.map { header.size.scaled(to: $0.size, mode: $0.mode) } ?? header.size)
        }
    }
}

/// A processor with a target that records its images.
private struct Shrink: ImageProcessing {
    let decodingTarget: TargetSize?
    let identifier: String
    let sizes = Watched<[PixelSize]>([])
    let fullSizes = Watched<[PixelSize?]>([])

    init(_ target: TargetSize?, _ identifier: String = "shrink") {
        decodingTarget = target
        self.identifier = identifier
    }

    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        sizes.update { $0.append(image.size) }
        fullSizes.update { $0.append(image.reduction?.fullSize) }
        return image
    }
}
