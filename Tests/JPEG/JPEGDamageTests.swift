import TestSupport
import AlcedoCore
import AlcedoJPEG
import AlcedoTesting
import Foundation
import Testing

@Suite struct JPEGDamageTests {
    private static let names = [
        "420.jpg", "444.jpg", "gray.jpg", "progressive.jpg", "restart.jpg", "arithmetic.jpg", "ycck.jpg", "cmyk.jpg",
        "profile.jpg", "exif6.jpg",
    ]
    private let decoder = JPEGDecoder()
    private let end: [UInt8] = [0xFF, 0xD9]

    @Test(arguments: names, DecoderConformance.checks)
    func `the decoder passes each conformance check`(name: String, check: DecoderConformance.Check) async throws {
        let file = try fixture(name)
        try await check { [decoder] _ in (decoder, file) }
    }

    @Test func `a partial image of one scan has the rows before the cut, and one of several scans is coarser`() throws {
        let options = DecodingOptions(allowsPartial: true)
        let rows = try reference("444.raw")
        let file = try fixture("444.jpg")
        let scan = try #require(JPEGEditor.data(in: file))
        let scans = try fixture("progressive.jpg")
        let first = try #require(JPEGEditor.data(in: scans))

        let upper = try decoder.decode(file.prefix(scan.lowerBound + scan.count / 2), options: options)
        let coarse = try decoder.decode(scans.prefix(first.upperBound + 10), options: options)

        let bytes = upper.pixels.tightBytes
        let known = try #require(stride(from: 0, to: bytes.count, by: 4).first { bytes[$0 + 3] == 0 })
        #expect(upper.partialError?.code == .truncated && upper.pixels.alphaMode == .straight)
        #expect(known > 0 && known % (33 * 4) == 0 && bytes.prefix(known).elementsEqual(rows.prefix(known)))
        #expect(bytes.dropFirst(known).allSatisfy { $0 == 0 })
        #expect(coarse.partialError?.code == .truncated && coarse.pixels.alphaMode == .opaque)
    }

    @Test(arguments: ["420.jpg", "gray.jpg", "restart.jpg", "restart-rows.jpg", "cmyk.jpg"])
    func `pixel data that ends early in a complete file is an error`(name: String) throws {
        let data = try fixture(name)
        let scan = try #require(JPEGEditor.data(in: data))

        // The last two bytes may be padding.
        for count in scan.dropLast(2) {
            #expect(errorCode(data.prefix(count) + end) == .corrupt, "\(count) bytes")
        }
    }

    @Test func `a progressive file needs its first scan and is coarser without later ones`() throws {
        let data = try fixture("progressive.jpg")
        let first = try #require(JPEGEditor.data(in: data))
        let last = try #require(JPEGEditor.range(of: 0xDA, 9, in: data))
        let whole = try reference("420.raw")

        for count in first.dropLast(2) {
            #expect(errorCode(data.prefix(count) + end) == .corrupt, "\(count) bytes")
        }
        for count in [last.lowerBound, last.lowerBound + 20, last.upperBound - 1] {
            let pixels = try decoder.decode(data.prefix(count) + end, options: DecodingOptions()).pixels.tightBytes
            let differences = zip(pixels, whole).map { abs(Int($0) - Int($1)) }
            #expect(differences.reduce(0, +) < 2 * differences.count, "\(count) bytes")
        }
    }

    @Test func `a restart marker out of order is an error`() throws {
        var data = try fixture("restart.jpg")
        let scan = try #require(JPEGEditor.data(in: data))
        let marker = try #require(scan.dropLast().first { data[$0] == 0xFF && data[$0 + 1] == 0xD1 })
        data[marker + 1] = 0xD3

        #expect(errorCode(data) == .corrupt)
    }

    /// libjpeg detects them only where few bytes are left.
    @Test func `invalid codes give the same error at once and in any pieces`() throws {
        let noise = try #require(
            PixelBuffer(size: PixelSize(width: 200, height: 200), format: .gray8, alphaMode: .opaque) { memory, _ in
                var random = SeededGenerator(seed: 5)
                for index in memory.indices { memory[index] = UInt8.random(in: 0...255, using: &random) }
            })
        var data = try JPEGEncoder(quality: 90).encode(DecodedImage(pixels: noise))
        // A code of all ones is invalid.
        let scan = try #require(JPEGEditor.data(in: data))
        let middle = scan.lowerBound + scan.count / 2
        data.replaceSubrange(middle..<middle + 8, with: [0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0])
        let whole = try decoder.decode(data, options: DecodingOptions())

        let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())
        for start in stride(from: 0, to: data.count, by: 61) {
            try pieces.append(Data(data[start..<min(start + 61, data.count)]))
        }

        #expect(try pieces.finish().pixels == whole.pixels)
    }

    @Test(.timeLimit(.minutes(10)), arguments: [(UInt16(50_000), UInt16(50_000)), (65_500, 65_500), (65_535, 1)])
    func `a huge size is refused before anything is allocated`(width: UInt16, height: UInt16) throws {
        let data = JPEGEditor.resizing(try fixture("420.jpg"), to: width, height)
        let small = DecodingOptions(target: TargetSize(width: 8, height: 8))

        #expect(errorCode(data) == .exceedsLimit)
        #expect(throws: ImageDecodingError.self) { try decoder.decode(data, options: small) }
        // libjpeg itself supports up to 65,500.
        if width <= 65_500 {
            #expect(try decoder.inspect(data, limits: DecodingLimits()).size.width == Int(width))
        }
    }

    @Test func `limits apply to the decoded image`() throws {
        let file = try fixture("420.jpg")

        #expect(errorCode(file, limits: DecodingLimits(maximumPixelCount: 33 * 25 - 1)) == .exceedsLimit)
        #expect(errorCode(file, limits: DecodingLimits(maximumByteCount: 192 * 25 - 1)) == .exceedsLimit)
        #expect(errorCode(file, limits: DecodingLimits(maximumPixelCount: 33 * 25, maximumByteCount: 192 * 25)) == nil)
    }

    @Test func `the coefficients of a progressive file count in addition to the image`() throws {
        let file = try fixture("progressive.jpg")
        let output = 192 * 25
        // 33 x 25 pixels are 5 x 4 blocks of luminance, of which libjpeg keeps 6 x 4 for whole units, and, at
        // half the size, 3 x 2 of each chrominance.
        let coefficients = (6 * 4 + 3 * 2 * 2) * 64 * 2

        #expect(errorCode(file, limits: DecodingLimits(maximumByteCount: output + coefficients)) == nil)
        #expect(errorCode(file, limits: DecodingLimits(maximumByteCount: output + coefficients - 1)) == .exceedsLimit)
    }

    @Test func `the number of scans is limited`() throws {
        let file = try fixture("progressive.jpg")
        // The scan that refines DC coefficients only sets bits, so repeating it changes nothing.
        let scan = try #require(JPEGEditor.range(of: 0xDA, 6, in: file))
        func repeating(_ count: Int) -> Data {
            let again = (0..<count).reduce(into: Data()) { data, _ in data += file[scan] }
            return file.dropLast(2) + again + end
        }

        let allowed = try decoder.decode(repeating(90), options: DecodingOptions())

        #expect(allowed.pixels.tightBytes == (try reference("420.raw")))
        #expect(errorCode(repeating(91)) == .exceedsLimit)
        #expect(errorCode(repeating(20_000)) == .exceedsLimit)
        #expect(throws: ImageDecodingError(.exceedsLimit, "JPEG: the image has too many scans")) {
            try decoder.decode(repeating(91), options: DecodingOptions())
        }
        // In pieces, at the first scan over the limit, not at the end of the file.
        let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())
        try pieces.append(file.dropLast(2))
        #expect(throws: ImageDecodingError(.exceedsLimit, "JPEG: the image has too many scans")) {
            for _ in 0..<95 { try pieces.append(file[scan]) }
        }
    }

    @Test func `an unsupported variant throws unsupportedVariant`() throws {
        let file = try fixture("420.jpg")
        let frame = try #require(JPEGEditor.range(of: 0xC0, in: file)).lowerBound
        var deep = file
        deep[frame + 4] = 12
        var lossless = file
        lossless[frame + 1] = 0xC3

        #expect(errorCode(deep) == .unsupportedVariant)
        #expect(errorCode(lossless) == .unsupportedVariant)
    }

    @Test func `an inconsistent file throws corrupt`() throws {
        let file = try fixture("420.jpg")
        let frame = try #require(JPEGEditor.range(of: 0xC0, in: file))
        let quantization = try #require(JPEGEditor.range(of: 0xDB, in: file))
        var withoutFrame = file
        withoutFrame.removeSubrange(frame)
        var withoutTable = file
        withoutTable.removeSubrange(quantization)

        #expect(errorCode(JPEGEditor.resizing(file, to: 0, 25)) == .corrupt)
        #expect(errorCode(JPEGEditor.resizing(file, to: 33, 0)) == .corrupt)
        #expect(errorCode(withoutFrame) == .corrupt)
        #expect(errorCode(withoutTable) == .corrupt)
        #expect(errorCode(file.prefix(2) + end) == .corrupt)
        #expect(errorCode(Data("no picture at all".utf8)) == .corrupt)
    }

    @Test func `bytes after the image or between its parts are ignored`() throws {
        let file = try fixture("420.jpg")
        let rows = try reference("420.raw")

        for data in [file + Data([1, 2, 3]), file.dropLast(2) + Data([1, 2, 3]) + end] {
            #expect(try decoder.decode(data, options: DecodingOptions()).pixels.tightBytes == rows)
        }
    }
}
