import AlcedoCore
import AlcedoProcessing
import FoundationEssentials
import TestSupport
import Testing

@Suite struct RowResizerTests {
    /// Reductions by less and more than four, with and without remainders, and enlarging.
    static let sizes: [(PixelSize, PixelSize)] = [
        (13, 11, 7, 5), (5, 7, 13, 9), (17, 4, 9, 4), (4, 19, 11, 5), (2, 2, 5, 3), (1, 9, 4, 4), (33, 29, 8, 7),
        (40, 24, 5, 6), (41, 3, 4, 6), (3, 47, 2, 1), (70, 90, 7, 9), (9, 640, 3, 1), (19, 700, 2, 1),
    ].map { (PixelSize(width: $0.0, height: $0.1), PixelSize(width: $0.2, height: $0.3)) }

    @Test(arguments: ResizeFilter.allCases)
    func `rows equal the whole image's in every format`(filter: ResizeFilter) throws {
        for (format, mode) in ResizeTests.shapes {
            for (index, (source, target)) in Self.sizes.enumerated() {
                let pixels = PixelBuffer.noise(source.width, source.height, format, mode, seed: UInt64(index + 1))
                let resize = ImageProcessors.Resize(
                    to: target, mode: .exact, enlarges: true, sampling: ResizeSampling(filter))
                let collector = PixelRowCollector()

                try Self.send(pixels, to: resize.rows(into: collector))

                let expected = try resize.process(DecodedImage(pixels: pixels)).pixels
                #expect(collector.image?.pixels == expected, "\(format) \(mode) \(source) to \(target)")
            }
        }
    }

    @Test func `rows equal the whole image's in linear light`() throws {
        let sampling = ResizeSampling(inLinearLight: true)
        for (format, mode) in ResizeTests.shapes {
            for (index, (source, target)) in Self.sizes.enumerated() {
                let pixels = PixelBuffer.noise(source.width, source.height, format, mode, seed: UInt64(index + 1))
                let resize = ImageProcessors.Resize(to: target, mode: .exact, enlarges: true, sampling: sampling)
                let collector = PixelRowCollector()

                try Self.send(pixels, to: resize.rows(into: collector))

                let expected = try resize.process(DecodedImage(pixels: pixels)).pixels
                #expect(collector.image?.pixels == expected, "\(format) \(mode) \(source) to \(target)")
            }
        }
    }

    @Test(arguments: ResizeMode.allCases, [false, true])
    func `modes and enlarging apply as for a whole image`(mode: ResizeMode, enlarges: Bool) throws {
        let pixels = PixelBuffer.pattern(.rgba8)
        for (width, height) in [(10, 10), (46, 99), (46, 5), (23, 17), (1, 1)] {
            let target = PixelSize(width: width, height: height)
            let collector = PixelRowCollector()

            let resize = ImageProcessors.Resize(to: target, mode: mode, enlarges: enlarges)

            try Self.send(pixels, to: resize.rows(into: collector))

            let expected = try resize.process(DecodedImage(pixels: pixels)).pixels
            #expect(collector.image?.pixels == expected)
        }
    }

    @Test func `profile and orientation pass through`() throws {
        let image = DecodedImage(
            pixels: .pattern(.gray8), colorProfile: Data([1, 2, 3]), orientation: .left)
        let collector = PixelRowCollector()

        try image.sendRows(to: Self.resizer(.resize(fitting: PixelSize(width: 5, height: 5)), into: collector))

        #expect(collector.image?.colorProfile == Data([1, 2, 3]))
        #expect(collector.image?.orientation == .left)
    }

    @Test(arguments: [PixelFormat.gray8, .rgba8])
    func `result rows are passed on at most three rows after their source rows have arrived`(format: PixelFormat) throws
    {
        let target = PixelSize(width: 40, height: 40)
        let pixels = PixelBuffer.noise(400, 400, format, .opaque, seed: 7)
        let counter = RowCounter()
        let resizer = Self.resizer(.resize(fitting: target, sampling: ResizeSampling(.box)), into: counter)
        try resizer.begin(DecodedImage(pixels: pixels).rowHeader)
        for y in 0..<pixels.height {
            try resizer.consume(pixels.row(y))
            // A result row of the box filter needs ten rows. Four rows are filtered at once.
            #expect((max(0, y - 2) / 10...(y + 1) / 10).contains(counter.rows))
        }
        try resizer.finish()
        #expect(counter.isFinished)
    }

    @Test func `a row with too few bytes is an error`() throws {
        let resizer = Self.resizer(.resize(fitting: PixelSize(width: 2, height: 2)), into: RowCounter())
        try resizer.begin(DecodedImage(pixels: .noise(9, 9, .rgba8, .opaque, seed: 1)).rowHeader)

        #expect(throws: ImageDecodingError(.corrupt, "a row has 32 bytes instead of 36")) {
            try resizer.consume(PixelBuffer.noise(8, 1, .rgba8, .opaque, seed: 1).row(0))
        }
    }

    @Test func `impossible sizes are errors before the first row`() {
        let header = DecodedImage(pixels: .pattern(.gray8)).rowHeader
        let none = Self.resizer(.resize(fitting: PixelSize(width: 0, height: 4)), into: RowCounter())
        #expect(throws: ImageProcessingError(.invalidParameter, "invalid target size: 0 x 4 pixels")) {
            try none.begin(header)
        }
        let huge = Self.resizer(
            .resize(exactly: PixelSize(width: 1 << 40, height: 1 << 40), enlarges: true), into: RowCounter())
        #expect(throws: ImageProcessingError.self) { try huge.begin(header) }
        for side in [-1, 0, Int.max] {
            var odd = header
            odd.size = PixelSize(width: side, height: side)
            let resizer = Self.resizer(.resize(fitting: PixelSize(width: 3, height: 3)), into: RowCounter())
            #expect(throws: ImageProcessingError.self) { try resizer.begin(odd) }
        }
    }

    @Test func `an error of the next consumer ends the processing`() throws {
        let counter = RowCounter(failingAt: 2)
        let resizer = Self.resizer(.resize(fitting: PixelSize(width: 5, height: 5)), into: counter)
        #expect(throws: RowCounter.Failure.self) { try Self.send(.pattern(.rgba8), to: resizer) }
        #expect(counter.rows == 2)
        #expect(!counter.isFinished)
    }

    private static func resizer(
        _ processor: ImageProcessors.BuiltIn, into next: any PixelRowConsumer
    ) -> any PixelRowConsumer {
        processor.rows(into: next)
    }

    private static func send(_ pixels: PixelBuffer, to consumer: any PixelRowConsumer) throws {
        try DecodedImage(pixels: pixels).sendRows(to: consumer)
    }
}
