import AlcedoCore
@testable import AlcedoProcessing
import FoundationEssentials
import Testing

import AlcedoLibc

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

    /// Samples of a scaled JPEG lie at exact multiples of 8/n pixels, also where the last one is incomplete. Here each
    /// is an average of `factor` pixels of a smooth image, whose last column and row continue to the end of the sample.
    @Test(arguments: [(643, 391, 4), (640, 400, 4), (129, 71, 2), (1_004, 100, 8)])
    func `a reduced image is resized like the full one, to the same size`(
        width: Int, height: Int, factor: Int
    ) throws {
        let level = { (x: Int, y: Int) -> Int in
            128 + Int(60 * sin(Double(x) / 50) * cos(Double(y) / 60))
        }
        let full = PixelBuffer.make(width, height, .gray8, .opaque) { x, y in SIMD4(repeating: UInt16(level(x, y))) }
        let size = PixelSize(width: (width - 1) / factor + 1, height: (height - 1) / factor + 1)
        var reduced = DecodedImage(
            pixels: PixelBuffer.make(size.width, size.height, .gray8, .opaque) { x, y in
                var sum = 0
                for row in y * factor..<(y + 1) * factor {
                    for column in x * factor..<(x + 1) * factor {
                        sum += level(min(column, width - 1), min(row, height - 1))
                    }
                }
                return SIMD4(repeating: UInt16((sum + factor * factor / 2) / (factor * factor)))
            })
        reduced.reduction = ImageReduction(
            of: full.size, width: Double(width) / Double(factor), height: Double(height) / Double(factor))
        let modes: [ImageProcessors.Resize] = [
            .init(to: PixelSize(width: size.width / 2, height: .max)),
            .init(to: PixelSize(width: size.width / 2, height: size.height / 2), mode: .exact),
            .init(to: PixelSize(width: size.width / 4, height: size.height / 2), mode: .cover),
            .init(to: PixelSize(width: size.width / 2, height: size.height / 4), mode: .cover),
        ]
        for resize in modes {
            let expected = try resize.process(DecodedImage(pixels: full)).pixels

            let result = try resize.process(reduced)

            #expect(result.reduction == nil)
            #expect(result.size == expected.size)
            let distance = expected.positions.map { x, y in
                abs(Int(result.pixels.pixel(x, y).x) - Int(expected.pixel(x, y).x))
            }
            #expect(distance.allSatisfy { $0 <= 2 }, "\(resize.identifier): \(distance.max() ?? 0)")

            let collector = PixelRowCollector()
            try reduced.sendRows(to: resize.rows(into: collector))
            #expect(collector.image?.pixels == result.pixels)
        }
    }

    @Test func `a part of the image is positioned exactly`() throws {
        // A ramp of 2 levels for each pixel: the center of the result shows the position of the part.
        let full = PixelBuffer.make(101, 10, .gray8, .opaque) { x, _ in SIMD4(repeating: UInt16(x * 2)) }
        let cover = ImageProcessors.Resize(to: PixelSize(width: 10, height: 10), mode: .cover)

        let result = try cover.process(DecodedImage(pixels: full))

        // The part of 10 pixels begins at 45, and its pixels are kept.
        #expect((0..<10).map { result.pixels.pixel($0, 4).x } == (45..<55).map { UInt16($0 * 2) })
    }

    @Test func `a part of the image that begins between two pixels is not moved`() throws {
        let full = PixelBuffer.make(101, 20, .gray8, .opaque) { x, _ in SIMD4(repeating: UInt16(x * 2)) }
        let cover = ImageProcessors.Resize(to: PixelSize(width: 10, height: 10), mode: .cover)

        let result = try cover.process(DecodedImage(pixels: full))

        // The part of 20 pixels begins at 40.5. The center of its first two pixels is the center of pixel 41.
        let levels = (0..<10).map { result.pixels.pixel($0, 4).x }
        #expect(levels == Array(stride(from: 82, to: 122, by: 4)))
    }

    @Test func `a filter that would need too much memory is refused`() {
        let size = PixelSize(width: 50_000_000, height: 2)
        let resize = ImageProcessors.Resize(to: PixelSize(width: 100, height: 100))

        #expect(throws: ImageProcessingError.self) {
            try resize.rows(into: PixelRowCollector()).begin(
                PixelRowHeader(size: size, format: .rgba8, alphaMode: .opaque))
        }
    }
}
