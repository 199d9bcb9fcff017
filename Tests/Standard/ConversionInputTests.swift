import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Sources in chunks and files, and results in pieces.
@Suite(.timeLimit(.minutes(5)))
struct ConversionInputTests {
    private typealias Variant = ImageConverter.Variant

    private struct BrokenBody: Error {}

    /// Chunks of a type, with the number of those that were read.
    private struct Chunks<Chunk: Sendable>: AsyncSequence, Sendable {
        let chunks: [Chunk]
        var fails = false
        let reads = Watched(0)

        struct AsyncIterator: AsyncIteratorProtocol {
            let chunks: Chunks
            var index = 0

            mutating func next() async throws -> Chunk? {
                guard index < chunks.chunks.count else {
                    if chunks.fails { throw BrokenBody() }
                    return nil
                }
                chunks.reads.update { $0 += 1 }
                index += 1
                return chunks.chunks[index - 1]
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: self) }
    }

    /// A buffer of another package that offers its bytes as a view.
    private struct Buffer: Sendable {
        var view: ArraySlice<UInt8>
    }

    private let file: Data
    private let pieces: [Data]

    init() throws {
        let file = try ImageEncoder.jpeg().encode(.coordinates(PixelSize(width: 64, height: 64)))
        self.file = file
        pieces = stride(from: 0, to: file.count, by: 100).map { file[$0..<min(file.count, $0 + 100)] }
    }

    private func convert<Body: AsyncSequence & Sendable>(
        _ body: Body, limit: Int = 1 << 20
    ) async throws -> Data where Body.Element: Collection<UInt8> {
        try await ImageConverter().convert(body, maximumByteCount: limit, to: [Variant(.jpeg())]).variants[0].data
    }

    @Test func `chunks of any collection of bytes are read`() async throws {
        let whole = try await ImageConverter().convert(file, to: .jpeg())

        #expect(try await convert(Chunks(chunks: pieces)) == whole)
        #expect(try await convert(Chunks(chunks: pieces.map { [UInt8]($0) })) == whole)
        #expect(try await convert(Chunks(chunks: pieces.map { ArraySlice($0) })) == whole)
        let buffers = Chunks(chunks: pieces.map { Buffer(view: ArraySlice($0)) })
        #expect(try await convert(buffers.map { $0.view }) == whole)
        #expect(try await convert(Chunks(chunks: [Data()] + pieces + [Data()])) == whole)
    }

    @Test func `the limit of bytes ends the read`() async throws {
        let body = Chunks(chunks: pieces)
        #expect(try await convert(body, limit: file.count).count > 0)

        let short = Chunks(chunks: pieces)
        let error = await #expect(throws: ImageConversionError.self) { try await convert(short, limit: 199) }
        #expect(error?.code == .inputTooLarge)
        #expect(short.reads.value == 2)
        await #expect(throws: ImageConversionError.self) { try await convert(body, limit: file.count - 1) }
    }

    @Test func `an error of the body is the error of the conversion`() async throws {
        var body = Chunks(chunks: pieces)
        body.fails = true
        await #expect(throws: BrokenBody.self) { try await convert(body) }
        let error = await #expect(throws: ImageDecodingError.self) { try await convert(Chunks<Data>(chunks: [])) }
        #expect(error?.code == .empty)
    }

    @Test func `a file is read up to a limit`() async throws {
        let directory = try TemporaryDirectory()
        let url = directory.url.appending(path: "image.png")
        try file.write(to: url)
        func convert(_ url: URL, limit: Int = .max) async throws -> Data {
            try await ImageConverter().convert(
                contentsOf: url, maximumByteCount: limit, to: [Variant(.jpeg())]
            ).variants[0].data
        }
        func code(_ url: URL, limit: Int = .max) async -> ImageConversionError.Code? {
            let error = await #expect(throws: ImageConversionError.self) { try await convert(url, limit: limit) }
            return error?.code
        }

        #expect(try await convert(url) == (try await ImageConverter().convert(file, to: .jpeg())))
        #expect(try await convert(url, limit: file.count).count > 0)
        #expect(await code(url, limit: file.count - 1) == .inputTooLarge)
        #expect(await code(directory.url.appending(path: "missing.png")) == .unreadableFile)
        #expect(await code(directory.url) == .unreadableFile)
    }

    @Test(arguments: [ImageEncoder.jpeg(), .png(compressionLevel: 0), .webp(), .gif()])
    func `pieces of a result are the bytes of the whole result`(encoder: ImageEncoder) async throws {
        // More than 4 MiB of red, green and blue.
        let large = try ImageEncoder.png().encode(.coordinates(PixelSize(width: 1_300, height: 1_300)))
        let pieces = Watched<[Data]>([])

        let image = try await ImageConverter().convert(large, to: Variant(encoder)) { piece in
            pieces.update { $0.append(piece) }
        }

        #expect(Data(pieces.value.joined()) == (try await ImageConverter().convert(large, to: encoder)))
        let isStreamed = encoder.format == .jpeg || encoder.format == .png
        #expect(isStreamed == (pieces.value.count > 1))
        #expect(image.data.isEmpty)
        #expect(image.size == PixelSize(width: 1_300, height: 1_300))
        #expect(image.format == encoder.format)
    }

    @Test func `an animation is passed on as a whole, and its losses are known`() async throws {
        var moving = DecodedImage.gray(side: 16, level: 0)
        let levels: [UInt8] = [0, 200]
        moving.frames = MadeFrames(
            moving.size, levels.map { (DecodedImage.gray(side: 16, level: $0).pixels, Duration.seconds(1)) })
        let source = try ImageEncoder.gif().encode(moving)
        let received = Watched(Data())

        let image = try await ImageConverter().convert(source, to: Variant(.webp())) { piece in
            received.update { $0.append(piece) }
        }
        let still = try await ImageConverter().convert(source, to: Variant(.jpeg())) { _ in }

        #expect(image.frameCount == 2 && image.losses == [])
        #expect(try CodecRegistry.standard.inspect(received.value).frameCount == 2)
        #expect(still.frameCount == 1 && still.losses == [.animation])
    }

    @Test func `an error of the output ends the conversion`() async throws {
        struct Closed: Error {}
        await #expect(throws: Closed.self) {
            try await ImageConverter().convert(file, to: Variant(.jpeg())) { _ in throw Closed() }
        }
    }
}
