import AlcedoBMP
import AlcedoCore
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite struct BMPRunLengthTests {
    private let decoder = BMPDecoder()

    /// A bitmap of 16 or fewer colors in which index *i* is the gray 16 *i*.
    private func file(
        _ codes: [UInt8], width: Int = 4, height: Int = 3, bits: Int = 8, declared: Int = 0, isTopDown: Bool = false
    ) -> Data {
        BMPWriter(
            width: width, height: height, bits: bits, compression: bits == 8 ? 1 : 2, isTopDown: isTopDown,
            palette: (0..<16).map { [UInt8](repeating: UInt8($0 * 16), count: 3) }, declaredPixelByteCount: declared,
            pixels: codes
        ).file
    }

    /// The indices of the image, from the top; nil for transparent pixels.
    private func indices(_ file: Data) throws -> [[Int?]] {
        let pixels = try decoder.decode(file, options: DecodingOptions()).pixels
        return (0..<pixels.height).map { y in
            (0..<pixels.width).map { x in
                let pixel = pixels.rgba(x, y)
                return pixel == [0, 0, 0, 0] ? nil : Int(pixel[0] / 16)
            }
        }
    }

    private let complete: [UInt8] = [4, 1, 0, 0, 0, 3, 2, 3, 4, 0, 1, 5, 0, 0, 2, 6, 2, 7, 0, 1]

    @Test func `runs and stored pixels of eight bits give their colors`() throws {
        let image = try decoder.decode(file(complete), options: DecodingOptions())

        #expect(try indices(file(complete)) == [[6, 6, 7, 7], [2, 3, 4, 5], [1, 1, 1, 1]])
        #expect(image.pixels.alphaMode == .opaque)
    }

    @Test func `runs and stored pixels of four bits give their colors`() throws {
        // A run alternates between two indices. Five stored pixels have three bytes and a byte of padding.
        let codes: [UInt8] = [5, 0x12, 0, 0, 0, 5, 0x34, 0x56, 0x70, 0, 0, 1]

        #expect(try indices(file(codes, width: 5, height: 2, bits: 4)) == [[3, 4, 5, 6, 7], [1, 2, 1, 2, 1]])
    }

    @Test(arguments: [20, 46, 64])
    func `runs and stored pixels of 24 bits give their colors`(headerByteCount: Int) throws {
        // Three stored pixels have nine bytes and a byte of padding.
        let codes: [UInt8] = [2, 3, 2, 1, 0, 3, 6, 5, 4, 9, 8, 7, 12, 11, 10, 0, 0, 0, 5, 30, 20, 10, 0, 1]
        let file = BMPWriter(
            width: 5, height: 2, bits: 24, compression: 4, headerByteCount: headerByteCount, pixels: codes
        ).file

        let image = try decoder.decode(file, options: DecodingOptions())

        let rows: [[UInt8]] = [
            Array(repeating: [10, 20, 30, 255], count: 5).flatMap { $0 },
            [1, 2, 3, 255, 1, 2, 3, 255, 4, 5, 6, 255, 7, 8, 9, 255, 10, 11, 12, 255],
        ]
        #expect(image.pixels.tightBytes == rows[0] + rows[1])
        #expect(image.damage == nil)
        try DecoderChecks(decoder).checkRows(file)
        // The last code is cut.
        let cut = try decoder.decode(Data(file.dropLast(4)), options: DecodingOptions(allowsPartial: true))
        #expect(cut.isPartial)
        #expect(cut.pixels.tightBytes == [UInt8](repeating: 0, count: 20) + rows[1])
    }

    @Test func `skipped pixels are transparent`() throws {
        let codes: [UInt8] = [1, 1, 0, 2, 1, 1, 1, 2, 0, 0, 2, 3, 0, 1]
        let image = try decoder.decode(file(codes), options: DecodingOptions())

        #expect(try indices(file(codes)) == [[3, 3, nil, nil], [nil, nil, 2, nil], [1, nil, nil, nil]])
        #expect(image.pixels.alphaMode == .straight)
    }

    @Test func `runs beyond the width and rows beyond the height are clipped`() throws {
        let codes: [UInt8] = [200, 1, 9, 9, 0, 0, 4, 2, 0, 0, 0, 2, 9, 0, 1, 5, 0, 0, 4, 4, 0, 1]

        #expect(try indices(file(codes)) == [[nil, nil, nil, nil], [2, 2, 2, 2], [1, 1, 1, 1]])
    }

    @Test func `a missing end code is harmless after the last row`() throws {
        let codes: [UInt8] = [4, 1, 0, 0, 4, 2, 0, 0, 4, 3]
        func damage(_ codes: [UInt8], declared: Int = 0) throws -> ImageDamage? {
            let options = DecodingOptions(tolerance: .harmless)
            return try decoder.decode(file(codes, declared: declared), options: options).damage
        }

        #expect(try indices(file(codes)) == [[3, 3, 3, 3], [2, 2, 2, 2], [1, 1, 1, 1]])
        #expect(try damage(codes)?.kind == .harmless)
        #expect(try damage(codes + [0, 0])?.kind == .harmless)
        #expect(try damage(codes, declared: 10)?.kind == .harmless)
        #expect(try damage(codes + [0, 1], declared: 12) == nil)
        #expect(decoder.errorCode(file(Array(codes.dropLast(2)))) == .truncated)
        #expect(decoder.errorCode(file(Array(codes.dropLast(2)) + [3, 3])) == .truncated)
    }

    @Test func `a partial image has the rows before the end of the data`() throws {
        let cut = Data(file(complete).dropLast(8))

        let image = try decoder.decode(cut, options: DecodingOptions(allowsPartial: true))

        #expect(image.partialError?.code == .truncated)
        #expect(decoder.errorCode(cut) == .truncated)
        #expect(image.pixels.rgba(0, 2) == [16, 16, 16, 255])
        #expect(image.pixels.rgba(3, 0) == [0, 0, 0, 0])
    }

    @Test(arguments: DecoderConformance.checks)
    func `the decoder conforms`(check: DecoderConformance.Check) async throws {
        let data = file(complete)
        try await check { [decoder] _ in (decoder, data) }
    }

    @Test func `decoding holds the beginning of each run-length row`() throws {
        let byteCount = try decoder.decodingByteCount(file(complete), options: DecodingOptions())

        // Three rows that are padded to 64 bytes, a row of four pixels, and three beginnings of eight bytes.
        #expect(byteCount == 3 * 64 + 4 * 4 + 3 * 8)
    }

    @Test func `many codes without pixels take linear time`() throws {
        let skips = { (count: Int) in
            file((0..<count).flatMap { _ in [0, 2, 0, 0] as [UInt8] } + [0, 1])
        }
        let (short, long) = (skips(50_000), skips(200_000))

        LinearTime.expect {
            #expect(decoder.errorCode(short) == nil)
        } fourTimes: {
            #expect(decoder.errorCode(long) == nil)
        }
    }

    @Test func `run lengths from the top, or with another bit count, are corrupt`() {
        #expect(decoder.errorCode(file(complete, isTopDown: true)) == .corrupt)
        #expect(decoder.errorCode(BMPWriter(width: 1, height: 1, bits: 24, compression: 1).file) == .corrupt)
    }
}
