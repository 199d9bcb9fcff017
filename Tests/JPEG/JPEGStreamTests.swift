import AlcedoCore
@testable import AlcedoJPEG
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite struct JPEGStreamTests {
    private static let names = [
        "420.jpg", "444.jpg", "gray.jpg", "rgb.jpg", "progressive.jpg", "restart.jpg", "arithmetic.jpg", "ycck.jpg",
        "cmyk.jpg", "profile.jpg", "exif6.jpg",
    ]
    private let decoder = JPEGDecoder()

    @Test(arguments: names) func `rows and pieces give the same image`(name: String) throws {
        try DecoderChecks(decoder).checkRows(fixture(name))
        try DecoderChecks(decoder).checkPieces(fixture(name))
        let small = DecodingOptions(
            appliesOrientation: false, target: TargetSize(width: 9, height: 9), pixelFormat: .gray8)
        try DecoderChecks(decoder, options: small).checkPieces(fixture(name))
    }

    @Test func `gray files are decoded as gray on request`() throws {
        let options = DecodingOptions(pixelFormat: .gray8)
        let gray = try decoder.decode(fixture("gray.jpg"), options: options).pixels

        #expect(gray.format == .gray8)
        #expect(gray.alphaMode == .opaque)
        #expect(gray.tightBytes == Array(try fixture("gray.raw")))
        #expect(try decoder.decode(fixture("420.jpg"), options: options).pixels.format == .rgba8)
    }

    @Test func `the header comes before the pixels, and rows of one scan as they arrive`() throws {
        let file = try fixture("444.jpg")
        let scan = try #require(JPEGEditor.data(in: file))
        let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())

        try pieces.append(file.prefix(scan.lowerBound))
        #expect(try pieces.info == decoder.inspect(file, limits: DecodingLimits()))
        #expect(try pieces.preview() == nil)
        try pieces.append(file[scan.lowerBound..<scan.lowerBound + scan.count * 2 / 3])
        let preview = try #require(try pieces.preview())

        #expect(preview.pass == 1)
        #expect((1..<25).contains(preview.rowCount))
        let known = preview.rowCount * 33 * 4
        #expect(preview.image.pixels.tightBytes.prefix(known).elementsEqual(try reference("444.raw").prefix(known)))
        #expect(try pieces.preview() == nil)
    }

    @Test func `row decoding ends with an error when libjpeg has no more rows`() throws {
        let file = Array(try fixture("444.jpg"))
        try file.withUnsafeBufferPointer { bytes in
            let reader = try JPEGReader(limits: DecodingLimits())
            reader.feed(UnsafeBufferPointer(rebasing: bytes.prefix(bytes.count * 2 / 3)))
            try #require(try reader.readHeader())

            let error = #expect(throws: ImageDecodingError.self) {
                try reader.sendRows(DecodingOptions(), to: PixelRowCollector())
            }

            #expect(error?.code == .truncated)
        }
    }

    @Test func `each complete scan of a progressive file is a finer preview`() throws {
        let file = try fixture("progressive.jpg")
        let whole = try reference("420.raw")
        let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())
        var errors: [Int] = []
        var passes: [Int] = []

        for byte in file {
            try pieces.append(Data([byte]))
            guard let preview = try pieces.preview() else { continue }
            passes.append(preview.pass)
            errors.append(zip(preview.image.pixels.tightBytes, whole).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) })
        }

        #expect(passes == Array(1...passes.count))
        #expect(passes.count >= 5)
        #expect(try #require(errors.last) < errors[0] / 4)
        #expect(try pieces.finish().pixels.tightBytes == whole)
    }
}
