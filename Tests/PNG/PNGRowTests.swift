import AlcedoCore
import AlcedoPNG
import Foundation
import TestSupport
import Testing

@Suite struct PNGRowTests {
    private let decoder = PNGDecoder()

    private func rows(_ file: Data, _ options: DecodingOptions) throws -> DecodedImage {
        let collector = PixelRowCollector()
        try decoder.decodeRows(file, options: options, into: collector)
        return try #require(collector.image)
    }

    @Test(
        arguments: PNGCase.all.map(\.name) + ["exif.png", "profile.png", "animation.png"],
        [
            DecodingOptions(), DecodingOptions(alphaMode: .premultiplied), DecodingOptions(pixelFormat: .gray8),
            DecodingOptions(pixelFormat: .rgba16), DecodingOptions(appliesOrientation: false),
            DecodingOptions(target: TargetSize(width: 4, height: 4)),
        ])
    func `rows equal the whole image`(name: String, options: DecodingOptions) throws {
        let file = try fixture(name)
        let whole = try decoder.decode(file, options: options)

        let image = try rows(file, options)

        #expect(image.pixels == whole.pixels)
        #expect(image.colorProfile == whole.colorProfile)
        #expect(image.orientation == whole.orientation)
    }

    @Test func `damage is an error, also when partial images are allowed`() throws {
        let file = try fixture("rgba.png").dropLast(30)

        let error = #expect(throws: ImageDecodingError.self) { try rows(file, DecodingOptions(allowsPartial: true)) }

        #expect(error?.code == .truncated)
        #expect(throws: ImageDecodingError.self) { try rows(Data(), DecodingOptions()) }
    }

    @Test func `an error of the consumer ends the decoding`() throws {
        struct Full: Error {}
        final class Refusing: PixelRowConsumer {
            var count = 0
            func begin(_ header: PixelRowHeader) {}
            func consume(_ row: RawSpan) throws {
                count += 1
                if count == 3 { throw Full() }
            }
            func finish() { count = -1 }
        }
        let consumer = Refusing()

        #expect(throws: Full.self) {
            try decoder.decodeRows(fixture("rgb.png"), options: DecodingOptions(), into: consumer)
        }
        #expect(consumer.count == 3)
    }

    @Test(.spawnsProcesses, .timeLimit(.minutes(10)), .enabled(if: !keepsFreedMemory))
    func `a reduced image of a large file uses little memory`() async {
        // In its own process, because other tests use memory too.
        await #expect(processExitsWith: .success) {
            // The rows have more than 32 MiB, so they are not inflated at once.
            let size = PixelSize(width: 2_400, height: 6_000)
            var file = Data()
            let encoder = PNGEncoder(compressionLevel: 1).makeRowEncoder { bytes in
                bytes.withUnsafeBytes { file.append(contentsOf: $0) }
            }
            try encoder.begin(PixelRowHeader(size: size, format: .rgbx8, alphaMode: .opaque))
            let row = [UInt8](repeating: 90, count: 4 * size.width)
            for _ in 0..<size.height { try row.withUnsafeBytes { try encoder.consume(RawSpan(_unsafeBytes: $0)) } }
            try encoder.finish()
            let options = DecodingOptions(target: TargetSize(width: 60, height: 150))
            // Loads the code first, because an emulator translates it into memory of the process.
            _ = try? PNGDecoder().decode(file.prefix(file.count / 50), options: options)
            let before = try peakMemory()

            let image = try PNGDecoder().decode(file, options: options)

            #expect(image.size == PixelSize(width: 60, height: 150))
            #expect(image.pixels.rgba(59, 149) == [90, 90, 90, 255])
            #expect(try peakMemory() - before < 4 << 20)
            #expect(try PNGDecoder().decodingByteCount(file, options: options) < 1 << 20)
            #expect(try PNGDecoder().decodingByteCount(file, options: DecodingOptions()) > 4 * 2_400 * 6_000)
            // The rows that a filter takes are not collected either, unless they could be those of a partial image.
            var filtered = options
            filtered.isFiltered = true
            #expect(try PNGDecoder().decodingByteCount(file, options: filtered) < 1 << 20)
            filtered.allowsPartial = true
            #expect(try PNGDecoder().decodingByteCount(file, options: filtered) > 4 * 2_400 * 6_000)
        }
    }

    @Test(.spawnsProcesses, .timeLimit(.minutes(10)), .enabled(if: !keepsFreedMemory))
    func `an image whose pixels are still arriving is in memory once`() async {
        // In a process of its own, because other tests take memory too.
        await #expect(processExitsWith: .success) {
            // A row uses 64 bytes.
            let size = 64 * 1_000_000
            let head = PNGWriter.file([PNGWriter.header(width: 1, height: 1_000_000)])
            let pixels = PNGWriter.chunk("IDAT", [0x78, 0x01, 0x01, 0x04, 0, 0xFB, 0xFF, 0, 1, 2, 3], claimed: 1_000)
            let before = try peakMemory()

            let decoder = PNGDecoder().makeIncrementalDecoder(options: DecodingOptions())
            try decoder.append(head + pixels.dropLast(4))

            #expect(try decoder.preview()?.rowCount == 1)
            #expect(try peakMemory() - before < size + size / 2)
        }
    }
}
