import AlcedoCodecs
import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Counts what it is asked while it decodes with another decoder.
private struct CountingDecoder: ImageDecoding {
    struct Calls: Sendable, Equatable {
        var opens = 0
        var counts = 0
        var decodes = 0
        var rows = 0
    }

    let decoder: any ImageDecoding
    let calls = Watched(Calls())

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        calls.update { $0.opens += 1 }
        return Reader(try decoder.open(data, limits: limits), calls)
    }

    private final class Reader: ImageReading {
        private let reader: any ImageReading
        private let calls: Watched<Calls>

        init(_ reader: any ImageReading, _ calls: Watched<Calls>) { (self.reader, self.calls) = (reader, calls) }

        var header: ImageHeader { reader.header }

        func info() throws(ImageDecodingError) -> ImageInfo { try reader.info() }

        func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
            calls.update { $0.counts += 1 }
            return try reader.decodingByteCount(options)
        }

        func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            calls.update { $0.decodes += 1 }
            return try reader.decode(options)
        }

        func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
            calls.update { $0.rows += 1 }
            return try reader.decodeRows(options, into: consumer)
        }
    }
}

/// A processor that takes rows of any size.
private struct Reduce: ImageProcessing {
    var identifier: String { "reduce" }
    var decodingTarget: TargetSize? { TargetSize(width: 8, height: 8) }

    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage { image }
}

/// What a load of one image asks its decoder.
@Suite(.timeLimit(.minutes(10)))
struct OpeningTests {
    private func load(
        _ data: Data, _ entry: CodecRegistry.Entry, _ processors: any ImageProcessing...
    ) async throws -> CountingDecoder.Calls {
        var entry = entry
        let decoder = CountingDecoder(decoder: entry.decoder)
        entry.decoder = decoder
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(downloader: FakeDownloader(giving: data), codecs: CodecRegistry([entry])))
        _ = try await pipeline.load(try web("a") { $0.processors = processors })
        return decoder.calls.value
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .gif, .webp])
    func `a cold load opens the image once`(format: ImageFormat) async throws {
        let entry = try #require(CodecRegistry.standard.entries.first { $0.format == format })
        let data = try #require(CodecRegistry.standard.encoder(for: format)).encode(.gray(side: 16, level: 3))
        let whole = CountingDecoder.Calls(opens: 1, counts: 1, decodes: 1, rows: 0)
        #expect(try await load(data, entry) == whole)
        #expect(try await load(data, entry, Untouched()) == whole)
        let streamed = CountingDecoder.Calls(opens: 1, counts: 1, decodes: 0, rows: 1)
        #expect(try await load(data, entry, Reduce()) == streamed)
    }

    @Test func `an image that cannot be opened is opened once`() async throws {
        var entry = CodecRegistry.Entry.png
        let decoder = CountingDecoder(decoder: entry.decoder)
        entry.decoder = decoder
        let data = try PNGEncoder().encode(DecodedImage.gray(side: 16, level: 3)).prefix(20)
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(downloader: FakeDownloader(giving: data), codecs: CodecRegistry([entry])))
        let request = try web("a") { $0.decoding.allowsPartial = true }
        let error = await #expect(throws: PipelineError.self) { try await pipeline.load(request) }
        #expect(error?.code == .decoding(.truncated))
        #expect(decoder.calls.value == CountingDecoder.Calls(opens: 1))
    }
}
