import AlcedoBMP
import AlcedoCore
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite struct BMPDecoderTests {
    private let decoder = BMPDecoder()

    @Test(arguments: BMPSample.all)
    func `every kind of bitmap gives the colors that were stored`(sample: BMPSample) throws {
        let image = try decoder.decode(sample.file, options: DecodingOptions())

        #expect(image.pixels.tightBytes == sample.rgba)
        #expect(image.size == PixelSize(width: 5, height: 3))
        #expect(image.format == .bmp)
        #expect(image.partialError == nil)
        #expect(image.pixels.alphaMode == (sample.rgba[3] == 255 ? .opaque : .straight))
    }

    @Test(arguments: BMPSample.all)
    func `rows, reduced rows and pieces equal the image`(sample: BMPSample) throws {
        try DecoderChecks(decoder).checkRows(sample.file)
        try DecoderChecks(decoder).checkPieces(sample.file, knowsInfoEarly: false)
    }

    @Test(arguments: BMPSample.all)
    func `a file is parsed once for all that a load asks`(sample: BMPSample) throws {
        #expect(try decoder.parseCounts(sample.file) == [1, 1])
    }

    @Test func `rows that are stored from the bottom are sent from the top`() throws {
        let side = 2_000
        let writer = BMPWriter(
            width: side, height: side, bits: 24,
            rows: (0..<side).map { y in [UInt8](repeating: UInt8(y / 8), count: 3 * side) })
        let counter = FirstRows()

        try decoder.decodeRows(writer.file, options: DecodingOptions(), into: counter)

        #expect(counter.levels == (0..<side).map { UInt8($0 / 8) })
    }

    @Test func `inspection reads the header alone`() throws {
        var writer = BMPWriter(width: 9, height: 7, bits: 32, compression: 3, headerByteCount: 108)
        writer.masks = [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000]
        let info = try decoder.inspect(writer.file, limits: DecodingLimits())
        let palette = try decoder.inspect(BMPSample.indexed(bits: 4).file, limits: DecodingLimits())

        #expect(info.size == PixelSize(width: 9, height: 7))
        #expect(info.hasAlpha)
        #expect(info.colorModel == .rgba)
        #expect(info.format == .bmp)
        #expect(info.bitDepth == 8)
        #expect(info.frameCount == 1)
        #expect(palette.colorModel == .palette)
        #expect(palette.bitDepth == 4)
        #expect(!palette.hasAlpha)
    }

    @Test func `the resolution is read`() throws {
        func resolution(_ horizontal: Int, _ vertical: Int) throws -> ImageResolution? {
            var file = BMPWriter(width: 1, height: 1, bits: 24, rows: [[1, 2, 3]]).file
            file.replaceSubrange(38..<46, with: BMPWriter.bytes(horizontal, 4) + BMPWriter.bytes(vertical, 4))
            return try decoder.inspect(file, limits: DecodingLimits()).metadata.resolution
        }

        let expected = ImageResolution(horizontal: 300, vertical: 150)
        #expect(try resolution(11_811, 5_906)?.keeps(expected) == true)
        #expect(try resolution(0, 5_906) == nil)
        #expect(try resolution(-1, 5_906) == nil)
    }

    @Test(arguments: [1, 8, 24, 32]) func `a bitmap without a file header is recognized and decoded`(bits: Int) throws {
        var writer = BMPWriter(width: 2, height: 2, bits: bits)
        if bits <= 8 { writer.palette = (0..<1 << bits).map { [UInt8]($0 == 0 ? [9, 8, 7] : [1, 2, 3]) } }
        writer.rows = (0..<2).map { y in [UInt8](repeating: bits <= 8 ? 0 : UInt8(y), count: (2 * bits + 7) / 8) }
        let registry = CodecRegistry([.bmp])
        let bitmap = Data(writer.file.dropFirst(14))

        let image = try registry.decode(bitmap)

        #expect(try image.pixels == registry.decode(writer.file).pixels)
        #expect(image.damage == nil)
        #expect(try registry.inspect(bitmap).size == image.size)
        #expect(decoder.errorCode(Data(bitmap.dropLast(9))) == .truncated)
        try DecoderChecks(decoder).checkRows(bitmap)
        var planes = bitmap
        planes[12] = 2
        #expect(registry.entry(for: planes) == nil)
    }

    @Test func `an embedded profile is kept up to the limit`() throws {
        let sample = try #require(BMPSample.all.first { $0.description == "24 bits, with a profile" })
        var limited = DecodingOptions()
        limited.limits.maximumMetadataByteCount = 4

        #expect(try decoder.decode(sample.file, options: DecodingOptions()).colorProfile == Data([9, 8, 7, 6, 5]))
        #expect(try decoder.inspect(sample.file, limits: DecodingLimits()).metadata.colorProfile?.count == 5)
        #expect(try decoder.decode(sample.file, options: limited).colorProfile == nil)
    }

    @Test func `a linked profile is ignored`() throws {
        let sample = try #require(BMPSample.all.first { $0.description == "24 bits, with a profile" })
        var file = sample.file
        // PROFILE_LINKED, "LINK".
        file.replaceSubrange(70..<74, with: BMPWriter.bytes(0x4C49_4E4B, 4))

        #expect(try decoder.decode(file, options: DecodingOptions()).colorProfile == nil)
        #expect(try decoder.inspect(file, limits: DecodingLimits()).metadata.colorProfile == nil)
    }

    @Test(arguments: [AlphaMode.straight, .premultiplied])
    func `decoding holds the result once and one row`(mode: AlphaMode) throws {
        let sample = try #require(BMPSample.all.first { $0.description == "32 bits, version 4" })
        let options = DecodingOptions(alphaMode: mode)

        // Three rows that are padded to 64 bytes, and a row of five pixels.
        #expect(try decoder.decodingByteCount(sample.file, options: options) == 3 * 64 + 5 * 4)
        #expect(try decoder.decode(sample.file, options: options).pixels.alphaMode == mode)
    }

    @Test func `samples of ten bits are rounded, or kept in RGBA16`() throws {
        let writer = BMPWriter(
            width: 1, height: 1, bits: 32, compression: 3, masks: [0x3FF0_0000, 0xF_FC00, 0x3FF],
            rows: [BMPWriter.bytes(1023 << 20 | 512 << 10 | 1, 4)])

        let narrow = try decoder.decode(writer.file, options: DecodingOptions()).pixels
        let wide = try decoder.decode(writer.file, options: DecodingOptions(pixelFormat: .rgba16)).pixels

        #expect(narrow.tightBytes == [255, 128, 0, 255])
        #expect(wide.format == .rgba16)
        #expect(wide.withUnsafeBytes { Array($0.bindMemory(to: UInt16.self)[..<4]) } == [65_535, 32_800, 64, 65_535])
    }

    @Test func `indices beyond the palette are opaque black`() throws {
        let writer = BMPWriter(width: 2, height: 1, bits: 8, palette: [[9, 9, 9]], rows: [[0, 200]])

        #expect(
            try decoder.decode(writer.file, options: DecodingOptions()).pixels.tightBytes == [
                9, 9, 9, 255, 0, 0, 0, 255,
            ])
    }

    @Test func `a declared palette that is longer than the stored one is cut`() throws {
        var writer = BMPWriter(width: 1, height: 1, bits: 8, palette: [[1, 2, 3]], rows: [[0]])
        writer.declaredColorCount = 0x1234_5678

        #expect(try decoder.decode(writer.file, options: DecodingOptions()).pixels.tightBytes == [1, 2, 3, 255])
    }

    @Test(arguments: [0, 54]) func `an offset that does not count the palette is corrected`(offset: Int) throws {
        let sample = BMPSample.indexed(bits: 4) { $0.pixelOffset = offset }

        #expect(try decoder.decode(sample.file, options: DecodingOptions()).pixels.tightBytes == sample.rgba)
    }

    @Test func `the format is recognized by both headers`() throws {
        let registry = CodecRegistry([.bmp])
        let file = BMPSample.indexed(bits: 4).file

        #expect(registry.entry(for: file)?.format == .bmp)
        #expect(try registry.decode(file).size == PixelSize(width: 5, height: 3))
        #expect(registry.entry(for: Data("BM is not the beginning of a bitmap".utf8)) == nil)
        #expect(registry.acceptFieldValue.hasPrefix("image/bmp"))
    }
}

/// Collects the first byte of each row.
private final class FirstRows: PixelRowConsumer {
    private(set) var levels: [UInt8] = []

    func begin(_ header: PixelRowHeader) throws {}

    func consume(_ row: RawSpan) throws { levels.append(row.unsafeLoad(as: UInt8.self)) }

    func finish() throws {}
}
