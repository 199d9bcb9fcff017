import AlcedoBMP
import AlcedoCore
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite struct BMPDamageTests {
    private let decoder = BMPDecoder()

    @Test(
        arguments: ["1 bits, header of 12 bytes", "24 bits, with a profile", "32 bits, version 4", "16 bits, 5-6-5"],
        DecoderConformance.checks)
    func `the decoder conforms`(name: String, check: DecoderConformance.Check) async throws {
        let sample = try #require(BMPSample.all.first { $0.description == name })
        try await check { [decoder] _ in (decoder, sample.file) }
    }

    @Test func `compressions of other formats are unsupported variants`() {
        func code(_ compression: Int, bits: Int = 0, header: Int = 40) -> ImageDecodingError.Code? {
            decoder.errorCode(
                BMPWriter(width: 1, height: 1, bits: bits, compression: compression, headerByteCount: header).file)
        }

        #expect(code(4) == .unsupportedVariant)
        #expect(code(5) == .unsupportedVariant)
        #expect(code(11, bits: 32) == .unsupportedVariant)
        #expect(code(3, bits: 1, header: 64) == .unsupportedVariant)
        #expect(code(4, bits: 8, header: 64) == .corrupt)
        #expect(code(5, bits: 24, header: 64) == .unsupportedVariant)
        #expect(code(0, bits: 64) == .unsupportedVariant)
        #expect(code(0, bits: 3) == .unsupportedVariant)
        #expect(code(0, bits: 24, header: 66) == .unsupportedVariant)
    }

    @Test(
        arguments: [
            [0, 0, 0], [0xFF, 0xFF, 0xFF00], [0b101, 0xFF00, 0xFF_0000], [0x1_0000, 0xFF, 0xFF00],
        ] as [[UInt32]])
    func `masks that overlap, have gaps, or name no color are corrupt`(masks: [UInt32]) {
        let bits = masks[0] == 0x1_0000 ? 16 : 32
        let writer = BMPWriter(
            width: 1, height: 1, bits: bits, compression: 3, masks: masks, rows: [[0, 0, 0, 0]])

        #expect(decoder.errorCode(writer.file) == .corrupt)
    }

    @Test func `sizes are checked before pixels are read`() {
        let huge = BMPWriter(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF, bits: 24)
        let smallest = BMPWriter(width: 1, height: 0x8000_0000, bits: 24)
        let negative = BMPWriter(width: -5, height: 1, bits: 24)

        #expect(decoder.errorCode(huge.file) == .exceedsLimit)
        #expect(decoder.errorCode(smallest.file) == .exceedsLimit)
        #expect(decoder.errorCode(negative.file) == .corrupt)
        #expect(decoder.errorCode(BMPWriter(width: 0, height: 1, bits: 24).file) == .corrupt)
        #expect(throws: ImageDecodingError.self) { try decoder.inspect(huge.file, limits: DecodingLimits()) }
    }

    @Test func `a truncated bitmap gives the rows at its bottom`() throws {
        let sample = try #require(BMPSample.all.first { $0.description == "24 bits" })
        // The top row and a byte of the next one are missing.
        let cut = Data(sample.file.dropLast(18))

        let image = try decoder.decode(cut, options: DecodingOptions(allowsPartial: true))

        #expect(decoder.errorCode(cut) == .truncated)
        #expect(image.partialError?.code == .truncated)
        #expect(image.pixels.tightBytes == [UInt8](repeating: 0, count: 40) + sample.rgba[40...])
    }

    @Test func `missing padding of the last row is harmless`() throws {
        let sample = try #require(BMPSample.all.first { $0.description == "24 bits" })
        let cut = Data(sample.file.dropLast(1))

        let image = try decoder.decode(cut, options: DecodingOptions(tolerance: .harmless))

        #expect(image.damage?.kind == .harmless)
        #expect(image.damage?.error.code == .truncated)
        #expect(image.pixels.tightBytes == sample.rgba)
        #expect(image.pixels.alphaMode == .opaque)
        try DecoderChecks(decoder).checkRows(cut)
    }

    @Test func `a missing color profile is harmless`() throws {
        let sample = try #require(BMPSample.all.first { $0.description == "24 bits, with a profile" })
        let cut = Data(sample.file.dropLast(2))

        let image = try decoder.decode(cut, options: DecodingOptions(tolerance: .harmless))

        #expect(image.colorProfile == nil)
        #expect(image.damage?.kind == .harmless)
        #expect(image.pixels.tightBytes == sample.rgba)
        #expect(try decoder.inspect(cut, limits: DecodingLimits()).size == image.size)
    }

    @Test(arguments: [1, 14, 53])
    func `pixels follow the header when their offset is within it`(offset: Int) throws {
        var writer = BMPWriter(width: 1, height: 1, bits: 24, rows: [[1, 2, 3]])
        writer.pixelOffset = offset

        let image = try decoder.decode(writer.file, options: DecodingOptions(tolerance: .harmless))

        #expect(image.pixels.tightBytes == [3, 2, 1, 255])
        #expect(image.damage?.kind == .harmless)
    }

    @Test func `the numbers of bytes in the headers are not trusted`() throws {
        var file = BMPWriter(width: 1, height: 1, bits: 24, declaredPixelByteCount: 1 << 30, rows: [[1, 2, 3]]).file
        file.replaceSubrange(2..<6, with: [0, 0, 0, 1])

        #expect(try decoder.decode(file, options: DecodingOptions()).pixels.tightBytes == [3, 2, 1, 255])
    }

    @Test(arguments: [56, 108, 124])
    func `an alpha mask without bit fields applies when a pixel has alpha`(headerByteCount: Int) throws {
        func decode(bits: Int, alphaMask: UInt32, rows: [[UInt8]]) throws -> PixelBuffer {
            let writer = BMPWriter(
                width: 2, height: 1, bits: bits, headerByteCount: headerByteCount,
                masks: [0xFF_0000, 0xFF00, 0xFF, alphaMask], rows: rows)
            return try decoder.decode(writer.file, options: DecodingOptions()).pixels
        }
        let translucent: [UInt8] = [1, 2, 3, 128]

        let pixels = try decode(bits: 32, alphaMask: 0xFF00_0000, rows: [[3, 2, 1, 0] + [3, 2, 1, 128]])
        let opaque = try decode(bits: 32, alphaMask: 0xFF00_0000, rows: [[3, 2, 1, 0, 3, 2, 1, 0]])
        let unused = try decode(bits: 32, alphaMask: 0, rows: [[3, 2, 1, 0] + [3, 2, 1, 128]])
        let deep = try decode(bits: 16, alphaMask: 0x8000, rows: [[0, 0x80, 0xFF, 0x7F]])

        #expect(pixels.tightBytes == [1, 2, 3, 0] + translucent)
        #expect(pixels.alphaMode == .straight)
        #expect(opaque.tightBytes == [1, 2, 3, 255, 1, 2, 3, 255])
        #expect(opaque.alphaMode == .opaque)
        #expect(unused.tightBytes == opaque.tightBytes)
        #expect(deep.tightBytes == [0, 0, 0, 255, 255, 255, 255, 0])
    }

    /// Browsers show such files, whose writers did not use the alpha that they declare.
    @Test(arguments: [(3, 56), (3, 108), (3, 124), (6, 40)])
    func `bit fields without a pixel that has alpha are opaque`(compression: Int, headerByteCount: Int) throws {
        func decode(_ rows: [[UInt8]]) throws -> PixelBuffer {
            let writer = BMPWriter(
                width: 2, height: 1, bits: 32, compression: compression, headerByteCount: headerByteCount,
                masks: [0xFF00_0000, 0xFF_0000, 0xFF00, 0xFF], rows: rows)
            try DecoderChecks(decoder).checkRows(writer.file)
            return try decoder.decode(writer.file, options: DecodingOptions()).pixels
        }

        let opaque = try decode([[0, 3, 2, 1, 0, 6, 5, 4]])
        let translucent = try decode([[0, 3, 2, 1, 9, 6, 5, 4]])

        #expect(opaque.tightBytes == [1, 2, 3, 255, 4, 5, 6, 255])
        #expect(opaque.alphaMode == .opaque)
        #expect(translucent.tightBytes == [1, 2, 3, 0, 4, 5, 6, 9])
        #expect(translucent.alphaMode == .straight)
    }

    @Test func `bytes beside the pixels are not alpha`() throws {
        var profile = BMPWriter(
            width: 2, height: 1, bits: 32, headerByteCount: 124, masks: [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000],
            rows: [[3, 2, 1, 0, 3, 2, 1, 0]])
        let trailer = profile.file + [9, 8, 7, 6, 5]
        profile.profile = [9, 8, 7, 6, 5]
        // A row of 16 bits is padded to 32 bits.
        let padding = BMPWriter(
            width: 1, height: 2, bits: 16, headerByteCount: 108, masks: [0, 0, 0, 0x8000],
            pixels: [0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF])

        for file in [trailer, profile.file, padding.file] {
            let pixels = try decoder.decode(file, options: DecodingOptions()).pixels

            #expect(pixels.alphaMode == .opaque)
            #expect(pixels.tightBytes[3] == 255)
            #expect(pixels.tightBytes[7] == 255)
            try DecoderChecks(decoder).checkRows(file)
        }
    }

    @Test func `data without an image is an error`() {
        #expect(decoder.errorCode(Data("no picture at all".utf8)) == .corrupt)
        #expect(decoder.errorCode(Data()) == .empty)
    }
}
