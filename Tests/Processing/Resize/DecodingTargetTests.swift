import AlcedoCore
@testable import AlcedoProcessing
import Testing

/// The size from which a processor produces as good a result as from the full image.
@Suite struct DecodingTargetTests {
    private static let size = PixelSize(width: 30, height: 20)

    @Test func `a resize requests a decoding target of twice its size in its own mode`() {
        let table: [(ImageProcessors.BuiltIn, PixelSize, TargetSize.ContentMode)] = [
            (.resize(fitting: Self.size), PixelSize(width: 60, height: 40), .fit),
            (.resize(filling: Self.size), PixelSize(width: 60, height: 40), .fill),
            (.resize(exactly: Self.size, enlarges: true), PixelSize(width: 60, height: 40), .fill),
            (.resize(width: 30), PixelSize(width: 60, height: .max), .fit),
            (.resize(height: 30), PixelSize(width: .max, height: 60), .fit),
            (.resize(width: .max / 2 + 1), PixelSize(width: .max, height: .max), .fit),
        ]
        for (resize, size, mode) in table {
            #expect(resize.decodingTarget == TargetSize(size, mode: mode), "\(resize.identifier)")
        }
        for filter in ResizeFilter.allCases where filter != .box {
            let resize: ImageProcessors.BuiltIn = .resize(width: 30, sampling: ResizeSampling(filter))
            #expect(resize.decodingTarget != nil, "\(filter)")
        }
    }

    @Test(
        arguments: [
            .resize(width: 0), .resize(height: -1), .resize(fitting: PixelSize(width: .max, height: .max)),
            .resize(filling: PixelSize(width: 30, height: .max)), .resize(exactly: PixelSize(width: .max, height: 30)),
            .resize(width: 30, sampling: ResizeSampling(averagesFirst: false)),
            .resize(width: 30, sampling: ResizeSampling(inLinearLight: true)),
            .resize(width: 30, sampling: ResizeSampling(.box)),
        ] as [ImageProcessors.BuiltIn])
    func `a resize requests the full image where less would change the result`(resize: ImageProcessors.BuiltIn) {
        #expect(resize.decodingTarget == nil)
    }

    @Test func `a composition requests the decoding target of its first processor`() {
        let target = TargetSize(PixelSize(width: 60, height: 40))
        let resize: any ImageProcessing = .resize(fitting: Self.size)
        let table: [(any ImageProcessing, TargetSize?)] = [
            (.composition([resize, .circle()]), target), (.composition([.circle(), resize]), nil),
            (.composition([]), nil),
            (.everyFrame(resize), target), (.everyFrame(.circle()), nil),
            // An animation keeps its size.
            (.stillImagesOnly(resize), nil),
        ]
        for (processor, expected) in table {
            #expect(processor.decodingTarget == expected, "\(processor.identifier)")
        }
    }

    @Test(arguments: [
        (40, 30, 8), (41, 31, 8), (47, 37, 8), (641, 427, 3), (1_999, 1_333, 5), (100, 1, 10), (3, 2, 1),
    ])
    func `an averaged image keeps its fraction of a last pixel`(width: Int, height: Int, factor: Int) {
        let full = PixelSize(width: width, height: height)
        let size = PixelSize(width: (width - 1) / factor + 1, height: (height - 1) / factor + 1)

        let extent = PixelExtent(size, averagedFrom: full)

        #expect(extent.width == Double(width) / Double(factor))
        #expect(extent.height == Double(height) / Double(factor))
    }

    @Test func `an image scaled by a fractional factor has whole pixels only`() {
        let extent = PixelExtent(PixelSize(width: 150, height: 100), averagedFrom: PixelSize(width: 401, height: 267))

        #expect(extent.width == 150 && extent.height == 100)
    }

    @Test func `an averaged image is resized like the full one, to the same size`() throws {
        let whole = PixelBuffer.noise(647, 391, .rgba8, .opaque, seed: 3)
        let resize: ImageProcessors.BuiltIn = .resize(width: 60)
        let expected = try resize.process(DecodedImage(pixels: whole)).pixels
        let target = try #require(resize.decodingTarget)
        var shrunk = DecodedImage(pixels: try whole.reduced(by: BoxReduction(from: whole.size, towards: target)))
        shrunk.fullSize = whole.size

        let result = try resize.process(shrunk)

        #expect(shrunk.size == PixelSize(width: 130, height: 79) && result.fullSize == nil)
        #expect(result.size == expected.size)
        // Averages are rounded to whole levels in between.
        for (x, y) in expected.positions {
            let ours = SIMD4<Int32>(clamping: result.pixels.pixel(x, y))
            let distance = ours &- SIMD4<Int32>(clamping: expected.pixel(x, y))
            #expect(distance.max() <= 2 && distance.min() >= -2, "\(x), \(y)")
        }
    }
}
