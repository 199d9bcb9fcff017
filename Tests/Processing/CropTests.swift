import AlcedoCore
import AlcedoProcessing
import Testing

@Suite struct CropTests {
    @Test(arguments: [
        (2, 3, 5, 4, 2, 3, 5, 4), (-3, -2, 10, 10, 0, 0, 7, 8), (20, 15, 10, 10, 20, 15, 3, 2),
        (0, 0, 23, 17, 0, 0, 23, 17),
        (22, 16, Int.max, Int.max, 22, 16, 1, 1), (-5, -5, Int.max, Int.max, 0, 0, 23, 17),
    ])
    func `a rectangle is clipped to the image and its pixels are copied`(
        x: Int, y: Int, width: Int, height: Int, left: Int, top: Int, wide: Int, high: Int
    ) throws {
        for format in PixelFormat.allCases {
            let pixels = PixelBuffer.noise(23, 17, format, .opaque, seed: 11)
            let crop = ImageProcessors.Crop(PixelRect(x: x, y: y, width: width, height: height))

            let result = try crop.process(DecodedImage(pixels: pixels)).pixels

            #expect(result == .make(wide, high, format, .opaque) { pixels.pixel(left + $0, top + $1) })
        }
    }

    @Test func `the alpha mode is kept`() throws {
        for mode in [AlphaMode.straight, .premultiplied] {
            let image = DecodedImage(pixels: .noise(5, 5, .rgba8, mode, seed: 2))

            #expect(
                try ImageProcessors.Crop(to: PixelSize(width: 2, height: 2)).process(image).pixels.alphaMode == mode)
        }
    }

    @Test(arguments: [
        (9, 7, 7, 5, 9, 7), (10, 8, 6, 4, 10, 8), (100, 3, 0, 7, 23, 3), (.max, .max, 0, 0, 23, 17),
        (1, 1, 11, 8, 1, 1),
    ])
    func `a center crop keeps the middle`(width: Int, height: Int, left: Int, top: Int, wide: Int, high: Int) throws {
        let pixels = PixelBuffer.pattern(.rgbx8)

        let result = try ImageProcessors.Crop(to: PixelSize(width: width, height: height)).process(
            DecodedImage(pixels: pixels))

        #expect(result.pixels == .make(wide, high, .rgbx8, .opaque) { pixels.pixel(left + $0, top + $1) })
    }

    @Test(arguments: [
        (1, 1, 17, 17), (16, 9, 23, 13), (9, 16, 10, 17), (23, 17, 23, 17), (.max, 1, 23, 1), (1, .max, 1, 17),
        (.max, .max, 17, 17),
    ])
    func `proportions keep the largest middle part`(width: Int, height: Int, wide: Int, high: Int) throws {
        let crop = ImageProcessors.Crop(aspect: PixelSize(width: width, height: height))

        let result = try crop.process(DecodedImage(pixels: .pattern(.gray8)))

        #expect(result.size == PixelSize(width: wide, height: high))
    }

    @Test func `an image of one pixel can be cropped`() throws {
        let image = DecodedImage(pixels: .noise(1, 1, .rgba16, .straight, seed: 1))

        #expect(try ImageProcessors.Crop(aspect: PixelSize(width: 3, height: 2)).process(image).pixels == image.pixels)
    }

    @Test(
        arguments: [
            .crop(x: 0, y: 0, width: 0, height: 5), .crop(x: 0, y: 0, width: 5, height: -1),
            .crop(x: 23, y: 0, width: 5, height: 5), .crop(x: 0, y: 17, width: 5, height: 5),
            .crop(x: -5, y: 0, width: 5, height: 5),
            .crop(x: .max, y: .max, width: .max, height: .max),
            .crop(x: .min, y: .min, width: .max, height: .max),
            .crop(x: .min, y: .min, width: .min, height: .min),
            .crop(to: PixelSize(width: 0, height: 1)), .crop(to: PixelSize(width: 1, height: .min)),
            .crop(aspect: PixelSize(width: 0, height: 1)), .crop(aspect: PixelSize(width: 1, height: -1)),
        ] as [ImageProcessors.BuiltIn])
    func `an empty rectangle is an invalid parameter`(crop: ImageProcessors.BuiltIn) {
        let image = DecodedImage(pixels: .pattern(.rgba8))

        #expect { try crop.process(image) } throws: { ($0 as? ImageProcessingError)?.code == .invalidParameter }
    }
}
