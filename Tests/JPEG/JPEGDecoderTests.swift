import TestSupport
import AlcedoCore
import AlcedoJPEG
import Foundation
import Testing

@Suite struct JPEGDecoderTests {
    private let decoder = JPEGDecoder()
    private let size = PixelSize(width: 33, height: 25)

    private func decode(_ data: Data) throws -> DecodedImage {
        try decoder.decode(data, options: DecodingOptions())
    }

    @Test(arguments: [
        ("444.jpg", "444.raw"), ("422.jpg", "422.raw"), ("420.jpg", "420.raw"), ("rgb.jpg", "rgb.raw"),
        ("restart-rows.jpg", "restart-rows.raw"), ("restart.jpg", "420.raw"), ("progressive.jpg", "420.raw"),
        ("arithmetic.jpg", "420.raw"),
    ])
    func `pixels match the reference decoder`(file: String, expected: String) throws {
        let image = try decode(fixture(file))

        #expect(image.pixels.tightBytes == (try reference(expected)))
        #expect(image.size == size)
        #expect(image.pixels.format == .rgba8)
        #expect(image.pixels.alphaMode == .opaque)
        #expect(image.format == .jpeg)
        #expect(image.colorProfile == nil)
    }

    @Test(arguments: ["420.jpg", "progressive.jpg", "exif6.jpg"])
    func `a file is parsed once for all that a load asks`(file: String) throws {
        #expect(try decoder.parseCounts(fixture(file)) == [1, 1])
    }

    @Test func `gray becomes three equal channels`() throws {
        #expect(try decode(fixture("gray.jpg")).pixels.tightBytes == reference("gray.raw", channels: 1))
    }

    @Test func `premultiplying an opaque image changes nothing`() throws {
        let image = try decoder.decode(fixture("420.jpg"), options: DecodingOptions(alphaMode: .premultiplied))

        #expect(image.pixels == (try decode(fixture("420.jpg")).pixels))
    }

    @Test(arguments: [
        "444.jpg", "422.jpg", "420.jpg", "gray.jpg", "rgb.jpg", "progressive.jpg", "arithmetic.jpg", "ycck.jpg",
        "cmyk.jpg", "exif6.jpg",
    ])
    func `inspection matches decoding`(name: String) throws {
        let info = try decoder.inspect(fixture(name), limits: DecodingLimits())
        let image = try decoder.decode(fixture(name), options: DecodingOptions(appliesOrientation: false))

        let orientation: ImageOrientation = name == "exif6.jpg" ? .right : .up
        let models = ["gray.jpg": ColorModel.gray, "rgb.jpg": .rgb, "ycck.jpg": .ycck, "cmyk.jpg": .cmyk]
        #expect(info.size == size)
        #expect(info.orientation == orientation)
        #expect(info.frameCount == 1)
        #expect(info.colorModel == models[name] ?? .yCbCr)
        #expect(info.bitDepth == 8)
        #expect(!info.hasAlpha)
        #expect(image.size == info.size)
        #expect(image.orientation == info.orientation)
    }

    @Test func `inspection needs no pixel data`() throws {
        let file = try fixture("420.jpg")
        let header = file.prefix(try #require(JPEGEditor.data(in: file)).lowerBound)

        #expect(try decoder.inspect(header, limits: DecodingLimits()).size == size)
        #expect(errorCode(header) == .truncated)
    }

    /// Returns the mean and the largest difference.
    private func difference(_ a: [UInt8], _ b: [UInt8]) -> (mean: Double, most: Int) {
        let differences = zip(a, b).map { abs(Int($0) - Int($1)) }
        return (Double(differences.reduce(0, +)) / Double(differences.count), differences.max() ?? 0)
    }

    @Test func `YCCK becomes RGB`() throws {
        let pixels = try decode(fixture("ycck.jpg")).pixels

        // Two conversions between CMYK and RGB in eight bits, and the loss of quality 98.
        let (mean, most) = try difference(pixels.tightBytes, reference("small.raw"))
        #expect(mean < 3)
        #expect(most < 24)
        #expect(pixels.alphaMode == .opaque)
    }

    private func colors(_ inks: (_ x: Int, _ y: Int) -> [Int]) -> [UInt8] {
        (0..<size.height).flatMap { y in
            (0..<size.width).flatMap { x in
                let ink = inks(x, y)
                return ink[..<3].map { UInt8((255 - $0) * (255 - ink[3]) / 255) } + [255]
            }
        }
    }

    @Test func `CMYK becomes RGB, and inks are inverted also without Adobe's marker`() throws {
        let file = try fixture("cmyk.jpg")
        let marker = try #require(JPEGEditor.range(of: 0xEE, in: file))
        var unmarked = file
        unmarked.removeSubrange(marker)

        let image = try decode(file).pixels
        let (mean, most) = difference(image.tightBytes, colors { x, y in [7 * x, 9 * y, 60, 3 * (x + y)] })

        // The loss of quality 95 in smooth gradients.
        #expect(mean < 2)
        #expect(most < 8)
        #expect(try decode(unmarked).pixels == image)
    }

    @Test func `a file is recognized by content, and nothing else is`() throws {
        let registry = CodecRegistry([.jpeg])

        #expect(registry.entry(for: try fixture("gray.jpg"))?.format == .jpeg)
        #expect(registry.entry(for: Data([0xFF, 0xD8, 0xFF])) != nil)
        #expect(registry.entry(for: Data([0xFF, 0xD8])) == nil)
        #expect(registry.entry(for: Data([0xFF, 0xD8, 0x00, 0xFF])) == nil)
        #expect(registry.entry(for: Data()) == nil)
    }

    @Test func `a decoder for a slice of other data is found in the registry`() throws {
        let slice = (Data([1, 2, 3]) + (try fixture("444.jpg")) + Data([4])).dropFirst(3)

        #expect(try CodecRegistry([.jpeg]).decode(slice).pixels.tightBytes == reference("444.raw"))
    }
}
