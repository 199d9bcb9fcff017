import AlcedoCodecs
import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Decodes one gray pixel whose level is the last received byte.
struct LastByteCodec: ImageDecoding {
    final class Incremental: IncrementalImageDecoding {
        let bytes = Watched(Data())
        private let partialError: ImageDecodingError?

        init(partialError: ImageDecodingError? = nil) { self.partialError = partialError }

        var info: ImageInfo? {
            bytes.value.isEmpty
                ? nil : ImageInfo(format: ImageFormat(rawValue: "last"), size: PixelSize(width: 1, height: 1))
        }

        func append(_ bytes: Data) { self.bytes.update { $0.append(bytes) } }

        func preview() throws(ImageDecodingError) -> ImagePreview? {
            bytes.value.last.map { level in
                var image = DecodedImage.gray(side: 1, level: level)
                image.partialError = partialError
                return ImagePreview(image: image, rowCount: 1)
            }
        }

        func finish() throws(ImageDecodingError) -> DecodedImage {
            throw ImageDecodingError(.corrupt, "the whole is decoded by itself")
        }
    }

    /// The error of each preview.
    var partialError: ImageDecodingError?

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        Reader(data)
    }

    final class Reader: ImageReading {
        private let data: Data

        init(_ data: Data) { self.data = data }

        let header = ImageHeader(format: ImageFormat(rawValue: "last"), size: PixelSize(width: 1, height: 1))

        func info() throws(ImageDecodingError) -> ImageInfo { ImageInfo(format: header.format, size: header.size) }

        func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int { data.count }

        func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            .gray(side: 1, level: data.last ?? 0)
        }
    }

    func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
        Incremental(partialError: partialError)
    }
}

/// The same, except that decoding uses as many bytes as the first byte states.
private struct HungryCodec: ImageDecoding {
    final class Incremental: IncrementalImageDecoding {
        private let inner = LastByteCodec.Incremental()
        private let pieces: Watched<[Int]>

        init(_ pieces: Watched<[Int]>) { self.pieces = pieces }

        var info: ImageInfo? { inner.info }
        var decodingByteCount: Int? { inner.bytes.value.first.map { Int($0) } }

        func append(_ bytes: Data) {
            pieces.update { $0.append(bytes.count) }
            inner.append(bytes)
        }

        func preview() throws(ImageDecodingError) -> ImagePreview? { try inner.preview() }
        func finish() throws(ImageDecodingError) -> DecodedImage { try inner.finish() }
    }

    /// The byte counts of the calls of `append`.
    let pieces = Watched<[Int]>([])

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        let reader = try LastByteCodec().open(data, limits: limits)
        return WholeImageReader(try reader.info()) { options throws(ImageDecodingError) in try reader.decode(options) }
    }

    func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding { Incremental(pieces) }
}

/// The same, except that a decoder whose first byte is 255 calls `onFailure` while it decodes, and then fails.
private struct FailingCodec: ImageDecoding {
    final class Incremental: IncrementalImageDecoding {
        private let inner = LastByteCodec.Incremental()
        private let onFailure: Watched<@Sendable () -> Void>

        init(_ onFailure: Watched<@Sendable () -> Void>) { self.onFailure = onFailure }

        var info: ImageInfo? { inner.info }

        func append(_ bytes: Data) throws(ImageDecodingError) {
            guard bytes.first != 255 else {
                onFailure.value()
                throw ImageDecodingError(.corrupt, "the first byte is 255")
            }
            inner.append(bytes)
        }

        func preview() throws(ImageDecodingError) -> ImagePreview? { try inner.preview() }
        func finish() throws(ImageDecodingError) -> DecodedImage { try inner.finish() }
    }

    let onFailure = Watched<@Sendable () -> Void>({})

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        let reader = try LastByteCodec().open(data, limits: limits)
        return WholeImageReader(try reader.info()) { options throws(ImageDecodingError) in try reader.decode(options) }
    }

    func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding { Incremental(onFailure) }
}

@Suite(.timeLimit(.minutes(10)))
struct PreviewTests {
    private let clock = ManualClock()
    private let executor = ManualExecutor()
    private let levels = Watched<[UInt8]>([])

    /// Delivers the bytes one by one, each after the work for the previous one has ended.
    private func pipeline(
        _ bytes: [(offset: Int, byte: UInt8)], colorConverter: (any ColorConverting)? = nil,
        interval: Duration = .zero, byteBudget: Int = 1 << 20
    ) -> ImagePipeline {
        let downloader = FakeDownloader { [executor] request, _ in
            for (offset, byte) in bytes {
                request.onBytes?(offset, Data([byte]))
                executor.drain()
            }
            return Download(data: Data(bytes.map(\.byte)))
        }
        return pipeline(downloader, colorConverter: colorConverter, interval: interval, byteBudget: byteBudget)
    }

    private func pipeline(
        _ downloader: FakeDownloader, _ codec: any ImageDecoding = LastByteCodec(),
        colorConverter: (any ColorConverting)? = nil, interval: Duration = .zero, byteBudget: Int
    ) -> ImagePipeline {
        let entry = CodecRegistry.Entry(format: ImageFormat(rawValue: "last"), decoder: codec) { _ in true }
        return ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader, codecs: CodecRegistry([entry]), colorConverter: colorConverter, diskCache: nil,
                clock: clock, maximumDecodingByteCount: byteBudget, previewInterval: interval, taskExecutor: executor))
    }

    private func shown(by pipeline: ImagePipeline, _ change: (inout ImageRequest) -> Void = { _ in }) async throws
        -> [UInt8]
    {
        let request = try web("a") {
            $0.deliversPreviews = true
            change(&$0)
        }
        let task = pipeline.startTask(request) { [levels] event in
            if case .update(.preview(let preview)) = event { levels.update { $0.append(preview.image.level) } }
        }
        executor.drain()
        _ = try await task.response
        return levels.value
    }

    @Test func `previews of received bytes are delivered before the image is complete`() async throws {
        #expect(try await shown(by: pipeline([(0, 16), (1, 32), (2, 48)])) == [16, 32, 48])
    }

    @Test func `the sequence of previews begins with the last one and ends with the load`() async throws {
        let downloader = FakeDownloader { [clock] request, _ in
            request.onBytes?(0, Data([16]))
            try await clock.sleep(for: .seconds(1))
            return Download(data: Data([16]))
        }
        let task = pipeline(downloader, byteBudget: 512).imageTask(with: try web("a") { $0.deliversPreviews = true })
        executor.drain()
        #expect(clock.sleeperCount == 1)

        var shown: [UInt8] = []
        for await preview in task.previews {
            shown.append(preview.image.level)
            clock.advance(by: .seconds(1))
            executor.drain()
        }

        #expect(shown == [16])
        #expect(try await task.image.level == 16)
    }

    @Test func `previews are processed, too`() async throws {
        let processed = try await shown(by: pipeline([(0, 16), (1, 32)])) { $0.processors = [Brighten(step: 3)] }
        #expect(processed == [19, 35])
    }

    @Test func `the colors of previews are converted before processing`() async throws {
        let pipeline = pipeline([(0, 16), (1, 32)], colorConverter: FakeColorConverter())
        let converted = try await shown(by: pipeline) {
            $0.colorSpace = .displayP3
            $0.processors = [Brighten(step: 3)]
        }
        #expect(converted == [35, 67])
    }

    @Test func `the processed preview of a partial image is partial`() async throws {
        let codec = LastByteCodec(partialError: ImageDecodingError(.truncated, "the end is missing"))
        let downloader = FakeDownloader { [executor] request, _ in
            request.onBytes?(0, Data([16]))
            executor.drain()
            return Download(data: Data([16]))
        }
        let errors = Watched<[ImageDecodingError.Code?]>([])
        // This processor makes a new image, without the error.
        let request = try web("a") { ($0.deliversPreviews, $0.processors) = (true, [Brighten(step: 3)]) }
        let task = pipeline(downloader, codec, byteBudget: 1 << 20).startTask(request) { event in
            guard case .update(.preview(let preview)) = event else { return }
            errors.update { $0.append(preview.image.partialError?.code) }
        }
        executor.drain()
        _ = try await task.response

        #expect(errors.value == [.truncated])
    }

    @Test func `a load that shows the cached image first receives previews when nothing is cached`() async throws {
        #expect(try await shown(by: pipeline([(0, 16), (1, 32)])) { $0.showsCachedFirst = true } == [16, 32])
    }

    @Test func `a request without previews receives none`() async throws {
        #expect(try await shown(by: pipeline([(0, 16), (1, 32)])) { $0.deliversPreviews = false } == [])
    }

    @Test func `a restarted transfer restarts its previews, and a gap ends them`() async throws {
        #expect(try await shown(by: pipeline([(0, 16), (1, 32), (0, 48), (1, 64)])) == [16, 32, 48, 64])
        levels.update { $0 = [] }
        #expect(try await shown(by: pipeline([(0, 16), (5, 32), (6, 48)])) == [16])
    }

    @Test func `a decoder that fails after its transfer restarted ends no previews`() async throws {
        let codec = FailingCodec()
        let downloader = FakeDownloader { [executor] request, _ in
            codec.onFailure.update { $0 = { request.onBytes?(0, Data([32])) } }
            request.onBytes?(0, Data([255]))
            executor.drain()
            return Download(data: Data([32]))
        }
        #expect(try await shown(by: pipeline(downloader, codec, byteBudget: 1_000)) == [32])
    }

    @Test func `previews have a minimum interval`() async throws {
        #expect(try await shown(by: pipeline([(0, 16), (1, 32), (2, 48)], interval: .seconds(1))) == [16])
    }

    @Test func `a slow transfer with previews delays no other image`() async throws {
        let downloader = FakeDownloader { [clock] request, _ in
            // The number of bytes that all decodes may use.
            guard let onBytes = request.onBytes else { return Download(data: Data(repeating: 7, count: 40)) }
            onBytes(0, Data([16]))
            try await clock.sleep(for: .seconds(1))
            return Download(data: Data([16]))
        }
        let pipeline = pipeline(downloader, byteBudget: 512)
        let slow = pipeline.startTask(try web("slow") { $0.deliversPreviews = true }) { [levels] event in
            if case .update(.preview(let preview)) = event { levels.update { $0.append(preview.image.level) } }
        }
        executor.drain()
        #expect(clock.sleeperCount == 1)
        #expect(levels.value == [16])

        // It would wait for the slow one, which ends after this.
        let other = pipeline.imageTask(with: try web("other"))
        executor.drain()
        #expect(try await other.image.level == 7)

        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        executor.drain()
        _ = try await slow.response
    }

    @Test func `a preview without memory budget is omitted`() async throws {
        // A pixel and its copy use 128 bytes with the padding of their rows, and a quarter of 508 is 127.
        #expect(try await shown(by: pipeline([(0, 16), (1, 32)], byteBudget: 508)) == [])
        #expect(try await shown(by: pipeline([(0, 16), (1, 32)], byteBudget: 512)) == [16, 32])
    }

    /// Delivers each piece, all from the beginning of the file, after the work for the previous one has ended.
    private func hungryPipeline(_ codec: HungryCodec, _ pieces: [Data], byteBudget: Int) -> ImagePipeline {
        let downloader = FakeDownloader { [executor] request, _ in
            for piece in pieces {
                request.onBytes?(0, piece)
                executor.drain()
            }
            return Download(data: pieces.last ?? Data())
        }
        return pipeline(downloader, codec, byteBudget: byteBudget)
    }

    @Test func `a decoder over the budget receives no bytes after the header and delivers no preview`()
        async throws
    {
        for (need, isShown) in [(UInt8(200), true), (201, false)] {
            let codec = HungryCodec()
            let bytes = Data([need]) + Data(repeating: 7, count: 8_191)
            levels.update { $0 = [] }

            // A quarter of the budget is for previews.
            let shown = try await shown(by: hungryPipeline(codec, [bytes], byteBudget: 800))

            #expect(shown == (isShown ? [7] : []))
            #expect(codec.pieces.value == (isShown ? [4_096, 4_096] : [4_096]))
        }
    }

    @Test func `the thumbnail of a JPEG is a preview before the image, and is not kept`() async throws {
        let size = PixelSize(width: 240, height: 180)
        let file = try ImageEncoder.jpeg(quality: 90, embedsThumbnail: true).encode(.coordinates(size))
        let whole = try CodecRegistry.standard.decode(file).pixels
        // The header, with the thumbnail, and some of the pixels.
        let half = file.count * 2 / 3
        let downloader = FakeDownloader { [executor] request, _ in
            for piece in [0..<half, half..<file.count] {
                request.onBytes?(piece.lowerBound, file.subdata(in: piece))
                executor.drain()
            }
            return Download(data: file)
        }
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader, codecs: .standard, memoryCache: DictionaryMemoryCache(),
                diskCache: nil, clock: clock, previewInterval: .zero, taskExecutor: executor))
        let previews = Watched<[ImagePreview]>([])
        let request = try web("a") { $0.deliversPreviews = true }

        let task = pipeline.startTask(request) { event in
            if case .update(.preview(let preview)) = event { previews.update { $0.append(preview) } }
        }
        executor.drain()

        #expect(try await task.response.image.pixels == whole)
        let first = try #require(previews.value.first)
        #expect(first.rowCount < 180)
        #expect(first.image.size == size)
        #expect(first.image.pixels.alphaMode == .opaque)
        // The last row is that of the thumbnail.
        let color = first.image.pixels.rgba(100, 179)
        #expect(abs(Int(color[0]) - 100) < 10)
        #expect(abs(Int(color[1]) - 179) < 10)
        #expect(first.image.pixels != whole)
        #expect(pipeline.cachedImage(for: request)?.pixels == whole)
    }

    @Test func `a restarted transfer stays within the budget`() async throws {
        let codec = HungryCodec()

        let shown = try await shown(by: hungryPipeline(codec, [Data([100]), Data([201])], byteBudget: 800))

        #expect(shown == [100])
    }
}
