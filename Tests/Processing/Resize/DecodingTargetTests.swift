import AlcedoCore
@testable import AlcedoProcessing
import FoundationEssentials
import TestSupport
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

    // MARK: Crops before a resize

    private static func joined(
        _ processors: any ImageProcessing..., of size: PixelSize
    ) -> [any ImageProcessing] {
        ImageProcessors.CropBeforeResize.joined(in: processors, of: size)
    }

    @Test func `a crop before a resize requests the size at which the part is large enough`() {
        let size = PixelSize(width: 1_000, height: 600)
        let crop: ImageProcessors.BuiltIn = .crop(x: 100, y: 50, width: 400, height: 300)
        let table: [(any ImageProcessing, any ImageProcessing, PixelSize)] = [
            // The part is needed at 80 x 60.
            (crop, .resize(width: 40), PixelSize(width: 200, height: 120)),
            (crop, .resize(filling: Self.size), PixelSize(width: 150, height: 90)),
            // The part of 600 x 600 is needed at 100 x 100.
            (
                .crop(aspect: PixelSize(width: 1, height: 1), at: .top),
                .resize(covering: PixelSize(width: 50, height: 50)), PixelSize(width: 167, height: 100)
            ),
            // The rectangle is clipped to 400 x 600, which is needed at 40 x 60.
            (
                .crop(x: 600, y: -10, width: .max, height: .max), .resize(exactly: PixelSize(width: 20, height: 10)),
                PixelSize(width: 100, height: 60)
            ),
        ]
        for (crop, resize, target) in table {
            let result = Self.joined(crop, resize, .circle(), of: size)
            #expect(result.count == 2, "\(crop.identifier)")
            #expect(result.first?.decodingTarget == TargetSize(target, mode: .fill), "\(crop.identifier)")
            #expect(result.last?.identifier == ImageProcessors.BuiltIn.circle().identifier)
            let nested = Self.joined(ImageProcessors.BuiltIn.composition([crop, resize]), of: size)
            #expect(nested.first?.decodingTarget == result.first?.decodingTarget)
        }
    }

    @Test func `a crop that needs the full size stays as it is`() {
        let size = PixelSize(width: 1_000, height: 600)
        let crop: ImageProcessors.BuiltIn = .crop(x: 100, y: 50, width: 400, height: 300)
        let lists: [[any ImageProcessing]] = [
            [], [crop], [crop, .grayscale, .resize(width: 40)], [.grayscale, crop, .resize(width: 40)],
            // Twice the size is that of the part.
            [crop, .resize(width: 200)], [crop, .resize(width: 2_000, enlarges: true)],
            [crop, .resize(width: 40, sampling: ResizeSampling(.box))],
            [.crop(to: Self.size, at: .smart), .resize(width: 4)],
            // The error is that of the crop.
            [.crop(x: 1_000, y: 0, width: 1, height: 1), .resize(width: 4)],
        ]
        for list in lists {
            let result = ImageProcessors.CropBeforeResize.joined(in: list, of: size)
            #expect(result.map(\.identifier) == list.map(\.identifier))
        }
    }

    /// The images are those of `a reduced image is resized like the full one`, with parts that begin and end between
    /// two samples.
    @Test(arguments: [(643, 391, 4), (640, 400, 4), (1_004, 160, 8)], [false, true])
    func `a part of a reduced image is resized like that of the full one`(
        shape: (width: Int, height: Int, factor: Int), isMirrored: Bool
    ) throws {
        let (width, height, factor) = shape
        let level = { (x: Int, y: Int) -> Int in 128 + Int(60 * sin(Double(x) / 50) * cos(Double(y) / 60)) }
        let full = PixelBuffer.make(width, height, .gray8, .opaque) { x, y in
            SIMD4(repeating: UInt16(level(isMirrored ? width - 1 - x : x, y)))
        }
        let size = PixelSize(width: (width - 1) / factor + 1, height: (height - 1) / factor + 1)
        let samples = PixelBuffer.make(size.width, size.height, .gray8, .opaque) { x, y in
            let sample = isMirrored ? size.width - 1 - x : x
            var sum = 0
            for row in y * factor..<(y + 1) * factor {
                for column in sample * factor..<(sample + 1) * factor {
                    sum += level(min(column, width - 1), min(row, height - 1))
                }
            }
            return SIMD4(repeating: UInt16((sum + factor * factor / 2) / (factor * factor)))
        }
        var reduced = DecodedImage(pixels: samples)
        let reduction = ImageReduction(
            of: full.size, width: Double(width) / Double(factor), height: Double(height) / Double(factor))
        reduced.reduction = isMirrored ? reduction.upright(from: .upMirrored, size: size) : reduction
        let parts = [
            PixelRect(x: 101, y: 13, width: 317, height: 131),
            PixelRect(x: width - 203, y: height - 99, width: 203, height: 99),
            PixelRect(x: 0, y: 0, width: width, height: 77),
        ]
        for part in parts {
            let crop = ImageProcessors.Crop(part)
            let (wide, high) = (part.size.width / factor / 2, part.size.height / factor / 2)
            let resizes: [ImageProcessors.Resize] = [
                .init(to: PixelSize(width: wide, height: .max)),
                .init(to: PixelSize(width: wide / 2, height: high), mode: .cover, at: .bottom),
            ]
            for resize in resizes {
                let joined = try #require(Self.joined(crop, resize, of: full.size).first)
                let expected = try resize.process(try crop.process(DecodedImage(pixels: full))).pixels
                #expect(try joined.process(DecodedImage(pixels: full)).pixels == expected)

                let result = try joined.process(reduced)

                #expect(result.reduction == nil)
                try #require(result.size == expected.size)
                let distance = expected.positions.map { x, y in
                    abs(Int(result.pixels.pixel(x, y).x) - Int(expected.pixel(x, y).x))
                }
                #expect(distance.allSatisfy { $0 <= 3 }, "\(joined.identifier): \(distance.max() ?? 0)")
                for image in [reduced, DecodedImage(pixels: full)] {
                    let collector = PixelRowCollector()
                    try image.sendRows(to: joined.rows(into: collector))
                    #expect(collector.image?.pixels == (try joined.process(image).pixels))
                }
            }
        }
    }

    @Test func `the crop and the resize are applied to every frame of an animation`() throws {
        let full = PixelBuffer.make(80, 40, .gray8, .opaque) { x, _ in SIMD4(repeating: UInt16(x * 2)) }
        let resize: ImageProcessors.BuiltIn = .resize(width: 4)
        let joined = Self.joined(
            ImageProcessors.BuiltIn.crop(x: 16, y: 0, width: 32, height: 32), resize, of: full.size)
        var image = DecodedImage(pixels: full)
        image.frames = MadeFrames(full.size, [full, full].map { ($0, .milliseconds(100)) })

        let result = try #require(joined.first).process(image)

        #expect(result.frames?.frameCount == 2)
        #expect(try result.frames?.frame(at: 1) == result.pixels)
        #expect(result.size == PixelSize(width: 4, height: 4))
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
