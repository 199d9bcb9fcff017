import AlcedoCore
import AlcedoPlaceholders
import AlcedoTesting
import TestSupport
import Testing

@Suite struct EncodingTests {
    /// An image whose samples follow from their positions.
    private static func image(
        _ width: Int, _ height: Int, hasAlpha: Bool = false, orientation: ImageOrientation = .up
    ) throws -> DecodedImage {
        let size = PixelSize(width: width, height: height)
        let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: hasAlpha ? .straight : .opaque) {
            memory, stride in
            for y in 0..<height {
                for x in 0..<width {
                    let pixel = SIMD4<UInt8>(
                        UInt8(x * 255 / max(1, width - 1)), UInt8(y * 255 / max(1, height - 1)),
                        UInt8((x * 7 + y * 13) % 256), hasAlpha ? UInt8(255 - x * y * 3 % 200) : 255)
                    memory.storeBytes(of: pixel, toByteOffset: y * stride + 4 * x, as: SIMD4<UInt8>.self)
                }
            }
        }
        return DecodedImage(pixels: try #require(pixels), orientation: orientation)
    }

    /// The expected hashes are those of the Python package thumbhash-python 1.0.1 (Astropilot) and, for opaque images,
    /// also of thumbhash 0.1.2 (Jannchie).
    @Test(arguments: [
        (32, 20, false, "3/cJRJqAh3dgdndXiYZxoAj4eA=="), (20, 32, true, "3veJIxIacHB3RmdxcAf3iN/Nromd17g="),
        (100, 1, false, "VPYqcb52d4eIiAiJlYdPiAg="),
        (100, 75, true, "3weGJJAJcHdwd3dnBwd4cH+o/Mqo+aqcDw=="),
    ])
    func `a ThumbHash equals that of other implementations`(
        width: Int, height: Int, hasAlpha: Bool, expected: String
    ) throws {
        #expect(try ThumbHash(Self.image(width, height, hasAlpha: hasAlpha)).base64 == expected)
    }

    /// The expected hashes are those of the Python package blurhash 1.1.5 (Lorenz Diener).
    @Test(arguments: [
        (32, 20, 4, 3, "L$Hewc2swyX8qSW8jpe;gGfefUfm"), (32, 20, 1, 1, "00Hewc"),
        (9, 9, 4, 3, "LzH_;S34o0xsuoRnjui|f$fkfQfj"), (100, 1, 4, 3, "L~HPf;6fwtSK|l6fwtSK|l6fwtSK"),
        (
            9, 9, 9, 9,
            """
            |zH_;S34o0xsJj%0Jj%0JjuoRnjui|WqnQWqnQWqf$fkfQfjfQfjfQfjfQxsSejtj[WooLWooLWoeCe=fQe:fRe:fRe:fRx?SxjtkB\
            WooeWooeWoeCe=fRe:fRe:fRe:fRx@SxjskBWooeWooeWoeCe=fRe:fRe:fRe:fR
            """
        ),
    ])
    func `a BlurHash equals that of another implementation`(
        width: Int, height: Int, horizontal: Int, vertical: Int, expected: String
    ) throws {
        let hash = try BlurHash(Self.image(width, height), horizontal: horizontal, vertical: vertical)

        #expect(hash.text == expected)
        #expect(BlurHash(expected) == hash)
    }

    @Test func `numbers of components are clamped`() throws {
        let image = try Self.image(9, 9)

        #expect(try BlurHash(image, horizontal: 0, vertical: -1).text.count == 6)
        #expect(try BlurHash(image, horizontal: 10, vertical: 99).text.count == 166)
    }

    @Test func `a large image has nearly the hash of its small version`() throws {
        let large = try ThumbHash(Self.image(1000, 700)).averageColor
        let small = try ThumbHash(Self.image(100, 70)).averageColor

        for channel in [\PixelColor.red, \.green, \.blue] {
            #expect(abs(Int(large[keyPath: channel]) - Int(small[keyPath: channel])) < 9)
        }
    }

    @Test func `the hash is that of the upright image`() throws {
        let turned = try Self.image(30, 10, orientation: .right)
        let upright = DecodedImage(pixels: try turned.pixels.upright(from: .right))

        #expect(try ThumbHash(turned) == ThumbHash(upright))
        #expect(try ThumbHash(turned).aspectRatio < 1)
        #expect(try BlurHash(turned) == BlurHash(upright))
    }

    @Test(arguments: [PixelFormat.gray8, .rgba16, .rgbx8]) func `every pixel format has a hash`(format: PixelFormat)
        throws
    {
        let size = PixelSize(width: 300, height: 2)
        let pixels = PixelBuffer(size: size, format: format, alphaMode: .opaque) { memory, _ in
            memory.initializeMemory(as: UInt8.self, repeating: 255)
        }
        let white = DecodedImage(pixels: try #require(pixels))

        let hash = try BlurHash(white, horizontal: 1, vertical: 1)
        #expect(hash.image(width: 1, height: 1)?.pixels.rgba(0, 0) == [255, 255, 255, 255])
        #expect(try ThumbHash(white).image?.size.width == 32)
    }
}
