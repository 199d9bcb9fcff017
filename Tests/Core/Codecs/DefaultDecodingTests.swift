import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// The default implementations for a codec that only decodes or encodes whole images.
@Suite struct DefaultDecodingTests {
    private let codec = TextCodec()

    @Test func `decoded rows equal the whole image, which is complete and not animated`() throws {
        let collector = PixelRowCollector()
        let options = DecodingOptions(alphaMode: .premultiplied, allowsPartial: true)

        let damage = try codec.decodeRows(Data("pic:123".utf8), options: options, into: collector)

        #expect(collector.image?.pixels.tightBytes == Array("123".utf8))
        #expect(collector.image?.colorProfile == Data([7]))
        #expect(collector.image?.orientation == .down)
        #expect(damage == ImageDamage(.harmless, ImageDecodingError(.truncated, "no end")))
        var expected = options
        expected.allowsPartial = false
        expected.includesAnimation = false
        #expect(codec.calls.value == [expected])
    }

    @Test func `errors of row decoding are the decoder's or the consumer's`() {
        struct Full: Error {}
        final class Refusing: PixelRowConsumer {
            func begin(_ header: PixelRowHeader) throws { throw Full() }
            func consume(_ row: RawSpan) throws { Issue.record("a row came after an error") }
            func finish() throws { Issue.record("the end came after an error") }
        }
        #expect(throws: ImageDecodingError(.corrupt, "a digit is damaged")) {
            try codec.decodeRows(Data("pic:1x".utf8), options: DecodingOptions(), into: Refusing())
        }
        #expect(throws: Full.self) {
            try codec.decodeRows(Data("pic:1".utf8), options: DecodingOptions(), into: Refusing())
        }
    }

    @Test func `a registry passes on rows from the decoder that recognizes the bytes`() throws {
        let registry = CodecRegistry([TextCodec(prefix: "other:").entry, codec.entry])
        let collector = PixelRowCollector()
        try registry.decodeRows(Data("pic:45".utf8), into: collector)
        #expect(collector.image?.pixels.tightBytes == Array("45".utf8))
        #expect { try registry.decodeRows(Data("none".utf8), into: collector) } throws: {
            ($0 as? ImageDecodingError)?.code == .unknownFormat
        }
    }

    @Test func `the budget counts one buffer, and the padded rows of a second one for an image to be rotated`() throws {
        var codec = TextCodec()
        let data = Data("pic:123".utf8)
        for (format, expected) in [(PixelFormat.gray8, 128), (.rgba8, 448), (.rgba16, 832)] {
            codec.info.size = PixelSize(width: 100, height: 1)
            var options = DecodingOptions(pixelFormat: format)
            codec.info.orientation = .up
            #expect(try codec.decodingByteCount(data, options: options) == expected)
            codec.info.orientation = .down
            #expect(try codec.decodingByteCount(data, options: options) == 2 * expected)
            codec.info.orientation = .left
            // The upright image has 100 rows of one pixel, and each of them is padded to 64 bytes.
            #expect(try codec.decodingByteCount(data, options: options) == expected + 6_400)
            options.appliesOrientation = false
            #expect(try codec.decodingByteCount(data, options: options) == expected)
        }
        codec.info.size = PixelSize(width: .max, height: 2)
        #expect(try codec.decodingByteCount(data, options: DecodingOptions()) == .max)
        #expect(throws: ImageDecodingError(.corrupt, "no header")) {
            try codec.decodingByteCount(Data("?".utf8), options: DecodingOptions())
        }
    }

    @Test func `an encoder of whole images collects the rows and writes its bytes to the output`() throws {
        struct Encoder: ImageEncoding {
            let images = Watched<[DecodedImage]>([])
            var format: ImageFormat { .png }

            func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
                images.update { $0.append(image) }
                if image.size.width == 1 { throw ImageEncodingError(.unsupportedImage, "too narrow") }
                return Data(image.pixels.tightBytes.reversed())
            }
        }
        let encoder = Encoder()
        let output = Watched<[UInt8]>([])
        let image = try codec.decode(Data("pic:123".utf8), options: DecodingOptions())

        try image.sendRows(
            to: encoder.makeRowEncoder { bytes in
                bytes.withUnsafeBytes { bytes in output.update { $0 += Array(bytes) } }
            })

        #expect(output.value == Array("321".utf8))
        #expect(encoder.images.value.first?.rowHeader == image.rowHeader)
        let narrow = try codec.decode(Data("pic:1".utf8), options: DecodingOptions())
        #expect(throws: ImageEncodingError(.unsupportedImage, "too narrow")) {
            try narrow.sendRows(to: encoder.makeRowEncoder { _ in Issue.record("there is nothing to put out") })
        }
    }
}
