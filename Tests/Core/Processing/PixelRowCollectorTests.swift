import AlcedoCore
import FoundationEssentials
import Testing

@Suite struct PixelRowCollectorTests {
    private func image(_ format: PixelFormat) throws -> DecodedImage {
        let size = PixelSize(width: 5, height: 3)
        let pixels = PixelBuffer(size: size, format: format, alphaMode: .straight) { memory, stride in
            for y in 0..<3 {
                for index in 0..<5 * format.bytesPerPixel { memory[y * stride + index] = UInt8(y * 50 + index + 1) }
            }
        }
        return DecodedImage(
            pixels: try #require(pixels), colorProfile: Data([1, 2]), orientation: .left, format: .png)
    }

    @Test(arguments: PixelFormat.allCases) func `rows that were sent are collected`(format: PixelFormat) throws {
        let image = try image(format)
        let collector = PixelRowCollector()

        try image.sendRows(to: collector)

        let result = try #require(collector.image)
        #expect(result.pixels == image.pixels)
        #expect(result.rowHeader == image.rowHeader)
        #expect(result.colorProfile == Data([1, 2]))
        #expect(result.orientation == .left)
    }

    @Test func `the collector has no image before the last row`() throws {
        let image = try image(.rgba8)
        let collector = PixelRowCollector()
        #expect(throws: ImageDecodingError.self) { try collector.finish() }
        try collector.begin(image.rowHeader)
        for y in 0..<3 {
            #expect { try collector.finish() } throws: { ($0 as? ImageDecodingError)?.code == .truncated }
            try collector.consume(image.pixels.row(y))
            #expect(collector.image == nil)
        }
        try collector.finish()
        #expect(collector.image?.pixels == image.pixels)
    }

    @Test func `rows that are too long are truncated, and excess rows are refused`() throws {
        let image = try image(.gray8)
        let collector = PixelRowCollector()
        try collector.begin(image.rowHeader)
        // All bytes, including padding and the following rows.
        for y in 0..<3 { try collector.consume(image.pixels.bytes.extracting(droppingFirst: y * 64)) }
        #expect { try collector.consume(image.pixels.row(0)) } throws: {
            ($0 as? ImageDecodingError)?.code == .corrupt
        }
        try collector.finish()
        #expect(collector.image?.pixels == image.pixels)
    }

    @Test func `a size without a buffer throws outOfMemory`() {
        for side in [0, -1, Int.max] {
            let header = PixelRowHeader(
                size: PixelSize(width: side, height: side), format: .rgba8, alphaMode: .straight)
            #expect { try PixelRowCollector().begin(header) } throws: {
                ($0 as? ImageDecodingError)?.code == .outOfMemory
            }
        }
    }

    @Test func `a second image replaces the first`() throws {
        let collector = PixelRowCollector()
        for format in [PixelFormat.gray8, .rgba16] {
            let image = try image(format)
            try image.sendRows(to: collector)
            #expect(collector.image?.pixels == image.pixels)
        }
    }
}
