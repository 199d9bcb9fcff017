import AlcedoCore
import AlcedoProcessing
import AlcedoTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct RowTests {
    @Test(arguments: AllProcessors.list.indices, ProcessorConformance.checks)
    func `each processor passes each conformance check`(index: Int, check: ProcessorConformance.Check) async throws {
        try await check { _ in AllProcessors.list[index] }
    }

    @Test(arguments: ImageOrientation.allCases)
    func `rows become upright like the whole image`(orientation: ImageOrientation) throws {
        let image = DecodedImage(pixels: .noise(7, 5, .rgba16, .straight, seed: 4), orientation: orientation)
        let collector = PixelRowCollector()

        try image.sendRows(to: ImageProcessors.Orient().rows(into: collector))

        let expected = try ImageProcessors.Orient().process(image)
        #expect(collector.image?.pixels == expected.pixels)
        #expect(collector.image?.orientation == .up)
        #expect(expected.orientation == .up)
    }

    @Test(arguments: AllProcessors.list.indices)
    func `a chain can process one image after another`(index: Int) throws {
        let processor = AllProcessors.list[index]
        let collector = PixelRowCollector()
        let chain = processor.rows(into: collector)
        for seed in 1...3 {
            let image = DecodedImage(pixels: .noise(8 + seed, 12 - seed, .rgba8, .straight, seed: UInt64(seed)))

            try image.sendRows(to: chain)

            #expect(try collector.image?.pixels == processor.process(image).pixels, "\(processor.identifier)")
        }
    }

    @Test func `a filtered row is passed on as soon as its source rows have arrived`() throws {
        let filters: [(any ImageProcessing, Int)] = [
            (.blur(sigma: 2), 7), (.blur(sigma: 12), 36), (.sharpen(sigma: 2), 7), (.median(size: 9), 4),
        ]
        for (filter, reach) in filters {
            let counter = RowCounter()
            let pixels = PixelBuffer.noise(3, 100, .gray8, .opaque, seed: 1)
            let rows = filter.rows(into: counter)
            try rows.begin(DecodedImage(pixels: pixels).rowHeader)
            for y in 0..<pixels.height {
                try rows.consume(pixels.row(y))
                #expect(counter.rows == (y == 99 ? 100 : max(0, y + 1 - reach)))
            }
        }
    }

    @Test(arguments: AllProcessors.list.indices)
    func `an error of the next consumer, such as a cancellation, ends the rows`(index: Int) {
        let image = DecodedImage(pixels: .noise(12, 40, .rgba8, .straight, seed: 2))
        let counter = RowCounter(failingAt: 2)

        #expect(throws: RowCounter.Failure.self) {
            try image.sendRows(to: AllProcessors.list[index].rows(into: counter))
        }
        #expect(counter.rows == 2)
        #expect(!counter.isFinished)
    }

    @Test(arguments: AllProcessors.list.indices, [PixelFormat.gray8, .rgba8, .rgba16, .gray16])
    func `rows need no alignment`(index: Int, format: PixelFormat) throws {
        let processor = AllProcessors.list[index]
        let pixels = PixelBuffer.noise(9, 7, format, format.isGray ? .opaque : .straight, seed: 6)
        let image = DecodedImage(pixels: pixels)
        let collector = PixelRowCollector()
        let chain = processor.rows(into: collector)

        try chain.begin(image.rowHeader)
        for y in 0..<pixels.height {
            let row = [0] + pixels.row(y).withUnsafeBytes { Array($0) }
            try chain.consume(row.span.bytes.extracting(1..<row.count))
        }
        try chain.finish()

        #expect(try collector.image?.pixels == processor.process(image).pixels, "\(processor.identifier)")
    }

    @Test func `headers without a possible buffer are errors before the first row`() {
        let header = PixelRowHeader(
            size: PixelSize(width: .max / 2, height: 3), format: .rgba8, alphaMode: .straight)
        for processor in AllProcessors.list
        where !(processor.unwrapped is ImageProcessors.FirstFrame || processor.unwrapped is ImageProcessors.Orient) {
            #expect(throws: (any Error).self) { try processor.rows(into: PixelRowCollector()).begin(header) }
        }
    }
}
