import AlcedoCore
import AlcedoProcessing
import Testing

@Suite struct ResizeTests {
    static let shapes: [(PixelFormat, AlphaMode)] = [
        (.gray8, .opaque), (.rgbx8, .opaque), (.rgba8, .opaque), (.rgba8, .straight), (.rgba8, .premultiplied),
        (.rgba16, .opaque), (.rgba16, .straight), (.rgba16, .premultiplied), (.gray16, .opaque),
    ]

    @Test(arguments: ResizeFilter.allCases)
    func `a uniform image stays uniform`(filter: ResizeFilter) throws {
        for (format, mode) in Self.shapes {
            let deep = format.isDeep
            let alpha: UInt16 = mode == .opaque ? (deep ? .max : 255) : (deep ? 40_000 : 201)
            let color = format.isGray ? SIMD4<UInt16>(77, 77, 77, alpha) : SIMD4(7, 200, 99, alpha)
            let pixels = PixelBuffer.make(19, 23, format, mode) { _, _ in color }
            for (width, height) in [(1, 1), (4, 5), (9, 20), (40, 3), (31, 29)] {
                let result = try resize(pixels, width, height, filter)

                for (x, y) in result.positions {
                    #expect(result.pixel(x, y) == color, "\(format) \(mode) \(width) x \(height)")
                }
            }
        }
    }

    @Test func `an image that has the target size keeps its pixels`() throws {
        for (format, mode) in Self.shapes {
            let pixels = PixelBuffer.noise(9, 7, format, mode, seed: 3)

            #expect(try resize(pixels, 9, 7, .lanczos3) == pixels)
        }
    }

    @Test(arguments: ResizeFilter.allCases)
    func `color of transparent pixels does not bleed`(filter: ResizeFilter) throws {
        let pixels = PixelBuffer.make(20, 20, .rgba8, .straight) { x, _ in
            x < 9 ? SIMD4(255, 0, 0, 255) : SIMD4(0, 255, 0, 0)
        }
        for side in [1, 3, 7, 13, 33] {
            let result = try resize(pixels, side, side, filter)

            for (x, y) in result.positions {
                let pixel = result.pixel(x, y)
                let expected: SIMD4<UInt16> = pixel.w == 0 ? SIMD4(repeating: 0) : SIMD4(255, 0, 0, pixel.w)
                #expect(pixel == expected)
            }
            #expect(result.pixel(0, 0).w > 0)
        }
    }

    @Test func `overshoot never raises premultiplied color above alpha`() throws {
        let pixels = PixelBuffer.make(12, 12, .rgba8, .premultiplied) { x, y in
            (x / 3 + y / 3).isMultiple(of: 2) ? SIMD4(90, 90, 0, 90) : SIMD4(0, 250, 250, 250)
        }

        let result = try resize(pixels, 37, 29, .lanczos3)

        for (x, y) in result.positions {
            let pixel = result.pixel(x, y)
            #expect(pixel.x <= pixel.w)
            #expect(pixel.y <= pixel.w)
            #expect(pixel.z <= pixel.w)
        }
    }

    @Test func `modes and the enlarging flag give the documented sizes`() throws {
        let pixels = PixelBuffer.pattern(.gray8)
        let table: [(ResizeMode, Bool, (Int, Int), (Int, Int))] = [
            (.fit, false, (10, 10), (10, 7)), (.fill, false, (10, 10), (14, 10)), (.exact, false, (10, 10), (10, 10)),
            (.fit, false, (46, 99), (23, 17)), (.fit, true, (46, 99), (46, 34)), (.fill, true, (46, 51), (69, 51)),
            (.exact, false, (46, 5), (23, 5)), (.exact, true, (46, 5), (46, 5)), (.fit, false, (1, 1), (1, 1)),
        ]
        for (mode, enlarges, target, expected) in table {
            let processor = ImageProcessors.Resize(
                to: PixelSize(width: target.0, height: target.1), mode: mode, enlarges: enlarges,
                sampling: ResizeSampling(.box))

            let result = try processor.process(DecodedImage(pixels: pixels))

            #expect(result.size == PixelSize(width: expected.0, height: expected.1), "\(processor.identifier)")
            #expect(processor.resultSize(for: pixels.size) == result.size)
        }
    }

    @Test func `one side alone determines the size`() throws {
        let image = DecodedImage(pixels: .pattern(.gray8))
        let table: [(ImageProcessors.BuiltIn, Int, Int)] = [
            (.resize(width: 10), 10, 7), (.resize(height: 5), 7, 5), (.resize(width: 46), 23, 17),
            (.resize(width: 46, enlarges: true), 46, 34), (.resize(height: 51, enlarges: true), 69, 51),
            (.resize(width: 1), 1, 1), (.resize(width: 10, height: 5), 7, 5), (.resize(), 23, 17),
        ]
        for (processor, width, height) in table {
            #expect(try processor.process(image).size == PixelSize(width: width, height: height))
        }
        #expect(error(of: .resize(width: 0)) == .invalidParameter)
        #expect(error(of: .resize(height: .min)) == .invalidParameter)
        #expect(error(of: .resize(width: 1 << 20, enlarges: true)) == .tooLarge)
    }

    @Test func `an identifier contains everything that changes the result`() {
        let size = PixelSize(width: 30, height: 20)
        let all: [ImageProcessors.BuiltIn] = [
            .resize(fitting: size), .resize(filling: size), .resize(fitting: size, enlarges: true),
            .resize(fitting: size, sampling: ResizeSampling(.box)), .resize(width: 30), .resize(height: 20),
            .resize(fitting: size, sampling: ResizeSampling(inLinearLight: true)),
        ]

        #expect(Set(all.map(\.identifier)).count == all.count)
        #expect(ImageProcessors.Resize(to: size).identifier == "resize3:30x20,fit,lanczos3")
        #expect(
            ImageProcessors.Resize(to: PixelSize(width: 30, height: .max), enlarges: true).identifier
                == "resize3:30xany,fit,lanczos3,enlarge")
    }

    @Test(arguments: [(0, 5), (5, 0), (-1, 5), (5, -1), (0, 0), (Int.min, Int.min), (Int.max, 0)])
    func `a target side below one is an invalid parameter`(width: Int, height: Int) {
        for mode in ResizeMode.allCases {
            let processor = ImageProcessors.Resize(
                to: PixelSize(width: width, height: height), mode: mode, enlarges: true)

            #expect(processor.resultSize(for: PixelSize(width: 3, height: 3)) == PixelSize(width: 3, height: 3))
            #expect(error(of: ImageProcessors.BuiltIn(processor)) == .invalidParameter)
        }
    }

    @Test(arguments: [(Int.max, Int.max), (1 << 40, 1), (1, 1 << 40), (1 << 16, 1 << 13), (65_537, 1)])
    func `a target too large to make is an error`(width: Int, height: Int) {
        let target = PixelSize(width: width, height: height)

        #expect(error(of: .resize(exactly: target, enlarges: true)) == .tooLarge)
        #expect(error(of: .resize(fitting: PixelSize(width: .max, height: .max), enlarges: true)) == .tooLarge)
        #expect(error(of: .resize(exactly: target)) == nil)
    }

    private func error(of processor: ImageProcessors.BuiltIn) -> ImageProcessingError.Code? {
        do {
            _ = try processor.process(DecodedImage(pixels: .pattern(.rgba8)))
            return nil
        } catch {
            return error.code
        }
    }

    private func resize(
        _ pixels: PixelBuffer, _ width: Int, _ height: Int, _ filter: ResizeFilter
    ) throws -> PixelBuffer {
        let size = PixelSize(width: width, height: height)
        let processor = ImageProcessors.Resize(to: size, mode: .exact, enlarges: true, sampling: ResizeSampling(filter))
        return try processor.process(DecodedImage(pixels: pixels)).pixels
    }
}
