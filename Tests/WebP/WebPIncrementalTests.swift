import AlcedoCore
import AlcedoTesting
import AlcedoWebP
import Foundation
import TestSupport
import Testing

@Suite struct WebPIncrementalTests {
    private static let names = [
        "lossless.webp", "lossless-alpha.webp", "lossy.webp", "lossy-alpha.webp", "animated.webp", "offset.webp",
        "metadata.webp",
    ]
    private let decoder = WebPDecoder()

    /// Returns a lossy image for which libwebp needs several pieces and bands.
    private func large(colorProfile: Data? = nil, orientation: ImageOrientation = .up) throws -> Data {
        let pixels = try #require(PixelBuffer.gradient(PixelSize(width: 200, height: 300)))
        return try WebPEncoder(method: 0).encode(
            DecodedImage(pixels: pixels, colorProfile: colorProfile, orientation: orientation))
    }

    @Test(arguments: names) func `the image does not depend on the pieces`(name: String) throws {
        try DecoderChecks(decoder).checkPieces(fixture(name))
        let options = DecodingOptions(
            alphaMode: .premultiplied, target: TargetSize(width: 5, height: 9), allowsPartial: true)
        try DecoderChecks(decoder, options: options).checkPieces(fixture(name))
    }

    @Test(arguments: names) func `rows equal the image`(name: String) throws {
        try DecoderChecks(decoder).checkRows(fixture(name))
    }

    @Test func `rows of a large lossy image equal the image`() throws {
        try DecoderChecks(decoder).checkRows(large())
        try DecoderChecks(decoder).checkRows(large(colorProfile: Data([1]), orientation: .right))
        let pixels = try #require(PixelBuffer.gradient(PixelSize(width: 700, height: 900)))
        let noisy = try WebPEncoder(compression: .lossy(quality: 99), method: 0).encode(DecodedImage(pixels: pixels))
        try DecoderChecks(decoder).checkRows(noisy)
    }

    @Test func `only some rows of a lossy image are in memory`() throws {
        // 32 MB, with enough detail for several pieces.
        var random = SeededGenerator(seed: 1)
        let noise = (0..<50_021).map { _ in UInt8.random(in: 0...255, using: &random) }
        let pixels = try #require(
            PixelBuffer(size: PixelSize(width: 2000, height: 4000), format: .rgba8, alphaMode: .opaque) { memory, _ in
                for start in stride(from: 0, to: memory.count, by: noise.count) {
                    UnsafeMutableRawBufferPointer(rebasing: memory[start...]).copyBytes(
                        from: noise.prefix(memory.count - start))
                }
            })
        let data = try WebPEncoder(compression: .lossy(quality: 1), method: 0).encode(DecodedImage(pixels: pixels))
        let counter = RowCounter()
        // Loads the code first, because an emulator translates it into memory of the process.
        try decoder.decodeRows(large(), options: DecodingOptions(), into: RowCounter())

        let (_, growth) = try ResidentMemory.growth {
            try decoder.decodeRows(data, options: DecodingOptions(), into: counter)
        }

        #expect(counter.rows == 4000)
        #expect(data.count > 200_000)
        // The threads of other tests count as well.
        #expect(growth < 24 << 20)
    }

    @Test func `rows of a lossy image are delivered while its bytes arrive`() throws {
        let data = try large(colorProfile: Data(repeating: 7, count: 500))
        let whole = try decoder.decode(data, options: DecodingOptions()).pixels
        let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())
        var counts: [Int] = []

        for start in stride(from: 0, to: data.count, by: 200) {
            try pieces.append(Data(data[start..<min(data.count, start + 200)]))
            guard let preview = try pieces.preview() else { continue }
            counts.append(preview.rowCount)
            let pixels = preview.image.pixels
            #expect(pixels.tightBytes.prefix(800 * preview.rowCount) == whole.tightBytes.prefix(800 * preview.rowCount))
            #expect(pixels.tightBytes.dropFirst(800 * preview.rowCount).allSatisfy { $0 == 0 })
        }

        #expect(counts == counts.sorted())
        #expect(counts.count > 3)
        #expect(counts.last == 300)
        #expect(try pieces.preview() == nil)
        #expect(try pieces.finish().pixels == whole)
    }

    @Test func `the header is known long before the end`() throws {
        let data = try large(colorProfile: Data(repeating: 7, count: 500))
        let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())

        try pieces.append(Data(data.prefix(100)))
        #expect(pieces.info == nil)
        try pieces.append(Data(data[100..<600]))

        #expect(pieces.info?.size == PixelSize(width: 200, height: 300))
        #expect(pieces.info?.metadata.colorProfile?.count == 500)
    }

    @Test func `a file without an image that declares too small a size throws the same error in pieces`() throws {
        let header = RIFFWriter.extendedHeader(flags: 0, width: 14, height: 18)
        // A chunk behind the declared end, which ends too early.
        let chunk = RIFFWriter.chunk("JUNK", [UInt8](repeating: 0, count: 100)).dropLast(50)
        let file = RIFFWriter.file([header]) + chunk
        let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())

        let whole = #expect(throws: ImageDecodingError.self) {
            try decoder.decode(file, options: DecodingOptions())
        }
        let error = #expect(throws: ImageDecodingError.self) {
            for byte in file { try pieces.append(Data([byte])) }
            return try pieces.finish()
        }

        #expect(whole?.code == .truncated)
        #expect(error?.code == .truncated)
    }

    @Test func `the first frame of an animation is a preview`() throws {
        var random = SeededGenerator(seed: 2)
        let data = try randomAnimation(PixelSize(width: 8, height: 8), frameCount: 3, using: &random)
        let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())
        let second = try #require(data.range(of: Data("ANMF".utf8), in: 100..<data.count)).lowerBound

        try pieces.append(Data(data.prefix(second)))
        let preview = try #require(try pieces.preview())
        #expect(try pieces.preview() == nil)
        try pieces.append(Data(data.dropFirst(second)))
        let image = try pieces.finish()

        #expect(preview.image.pixels == image.pixels)
        #expect(image.frames?.frameCount == 3)
    }

    @Test func `exceeded limits are reported before the pixels arrive`() throws {
        let data = try large()
        let limits = DecodingLimits(maximumPixelCount: 59_999)
        let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions(limits: limits, allowsPartial: true))

        let error = #expect(throws: ImageDecodingError.self) { try pieces.append(Data(data.prefix(64))) }

        #expect(error?.code == .exceedsLimit)
    }

    @Test func `the rows of a truncated image are delivered when partial images are allowed`() throws {
        let data = try large()
        let cut = Data(data.prefix(data.count * 2 / 3))
        let whole = try decoder.decode(data, options: DecodingOptions()).pixels

        let part = try decoder.decode(cut, options: DecodingOptions(allowsPartial: true))

        #expect(part.partialError?.code == .truncated)
        #expect(part.pixels.alphaMode == .straight)
        let last = try #require((0..<300).last { part.pixels.rgba(0, $0)[3] != 0 })
        #expect(last > 50)
        #expect(last < 299)
        #expect(part.pixels.tightBytes.prefix(800 * (last + 1)) == whole.tightBytes.prefix(800 * (last + 1)))
        #expect(part.pixels.tightBytes.dropFirst(800 * (last + 1)).allSatisfy { $0 == 0 })
        let target = TargetSize(width: 50, height: 75)
        let small = try decoder.decode(cut, options: DecodingOptions(target: target, allowsPartial: true))
        #expect(small.size == PixelSize(width: 50, height: 75))
        #expect(small.isPartial)
    }

    @Test func `a partial image is rotated upright`() throws {
        // A complete file whose pixels end early.
        let image = RIFFWriter.image(of: try large())
        let header = RIFFWriter.extendedHeader(flags: 0x08, width: 200, height: 300)
        let cut = RIFFWriter.chunk("VP8 ", Array(image[8..<image.count * 2 / 3]))
        let file = RIFFWriter.file([header, cut, RIFFWriter.chunk("EXIF", ImageOrientation.right.exif)])

        let part = try decoder.decode(file, options: DecodingOptions(allowsPartial: true))
        let stored = try decoder.decode(file, options: DecodingOptions(appliesOrientation: false, allowsPartial: true))

        #expect(errorCode(file) == .truncated)
        #expect(part.partialError?.code == .truncated)
        #expect(part.size == PixelSize(width: 300, height: 200))
        #expect(stored.orientation == .right)
        #expect(try part.pixels == stored.pixels.upright(from: .right))
        #expect(stored.pixels.rgba(0, 0)[3] == 255)
        #expect(stored.pixels.rgba(0, 299)[3] == 0)
    }

    @Test func `decoding on several threads changes no pixel`() throws {
        let pixels = try #require(PixelBuffer.gradient(PixelSize(width: 1024, height: 300)))
        let data = try WebPEncoder(method: 0).encode(DecodedImage(pixels: pixels))
        let single = try WebPDecoder(usesThreads: false).decode(data, options: DecodingOptions())

        #expect(try WebPDecoder(usesThreads: true).decode(data, options: DecodingOptions()).pixels == single.pixels)
        #expect(LibwebpPlayer.still(data) == single.pixels.tightBytes)
    }
}
