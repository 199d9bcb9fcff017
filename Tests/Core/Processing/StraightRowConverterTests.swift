import AlcedoCore
import TestSupport
import Testing

@Suite struct StraightRowTests {
    private func convert(_ format: PixelFormat, _ mode: AlphaMode, _ bytes: [UInt8]) -> [UInt8] {
        let header = PixelRowHeader(
            size: PixelSize(width: bytes.count / format.bytesPerPixel, height: 1), format: format, alphaMode: mode)
        var row = StraightRowConverter(header)
        // Twice, because remains of one row must not affect the next.
        let inverted = bytes.map { ~$0 }
        _ = row.convert(inverted.span.bytes)
        return row.convert(bytes.span.bytes)
    }

    private func bytes(_ samples: [UInt16]) -> [UInt8] { samples.withUnsafeBytes { Array($0) } }

    @Test func `gray becomes three equal opaque samples`() {
        #expect(convert(.gray8, .opaque, [0, 7, 255]) == [0, 0, 0, 255, 7, 7, 7, 255, 255, 255, 255, 255])
    }

    @Test func `straight and opaque bytes are unchanged`() {
        let pixels: [UInt8] = [1, 2, 3, 0, 4, 5, 6, 128, 7, 8, 9, 255]
        #expect(convert(.rgba8, .straight, pixels) == pixels)
        #expect(convert(.rgbx8, .opaque, [1, 2, 3, 255]) == [1, 2, 3, 255])
    }

    @Test func `16-bit samples lose their low byte`() {
        let samples: [UInt16] = [0x1234, 0x00FF, 0xFFFF, 0x80FF]
        #expect(convert(.rgba16, .straight, bytes(samples)) == [0x12, 0x00, 0xFF, 0x80])
        #expect(convert(.gray16, .opaque, bytes([0x1234, 0xFFFF])) == [0x12, 0x12, 0x12, 255, 255, 255, 255, 255])
    }

    @Test func `premultiplied color is divided by alpha and rounded to nearest`() {
        #expect(convert(.rgba8, .premultiplied, [64, 1, 128, 128]) == [128, 2, 255, 128])
        #expect(convert(.rgba8, .premultiplied, [9, 8, 7, 0]) == [0, 0, 0, 0])
        #expect(convert(.rgba8, .premultiplied, [9, 8, 7, 255]) == [9, 8, 7, 255])
        // 200 is not a premultiplied sample under alpha 100, and must not overflow.
        #expect(convert(.rgba8, .premultiplied, [200, 100, 50, 100]) == [255, 255, 128, 100])
        #expect(convert(.rgba16, .premultiplied, bytes([0x4000, 0, 0x8000, 0x8000])) == [128, 0, 255, 128])
    }

    @Test func `every premultiplied pixel matches the buffer's own conversion`() throws {
        let size = PixelSize(width: 256, height: 256)
        let made = PixelBuffer(size: size, format: .rgba8, alphaMode: .premultiplied) { memory, stride in
            for alpha in 0..<256 {
                for color in 0..<256 {
                    let value = UInt8(min(color, alpha))
                    memory.storeBytes(
                        of: SIMD4(value, value / 2, 0, UInt8(alpha)), toByteOffset: alpha * stride + 4 * color,
                        as: SIMD4<UInt8>.self)
                }
            }
        }
        let pixels = try #require(made)
        let expected = pixels.converted(to: .straight).tightBytes

        let collector = Collector(StraightRowConverter(DecodedImage(pixels: pixels).rowHeader))
        try DecodedImage(pixels: pixels).sendRows(to: collector)

        #expect(collector.bytes == expected)
    }

    private final class Collector: PixelRowConsumer {
        private var row: StraightRowConverter
        private(set) var bytes: [UInt8] = []

        init(_ row: StraightRowConverter) { self.row = row }

        func begin(_ header: PixelRowHeader) throws {}
        func consume(_ row: RawSpan) throws { bytes += self.row.convert(row) }
        func finish() throws {}
    }
}
