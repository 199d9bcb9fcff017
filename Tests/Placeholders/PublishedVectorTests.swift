import AlcedoCore
import AlcedoPlaceholders
import TestSupport
import Testing

/// Test vectors of other implementations.
@Suite struct PublishedVectorTests {
    /// The vectors of `t/data/pngified.txt` in the Perl module Image::ThumbHash 0.01 by Lukas Mai
    /// (github.com/mauke/Image-ThumbHash, commit 90ab0a5), which come from the implementation of Evan Wallace: hash,
    /// aspect ratio, average color, size, and the Adler-32 checksum that ends the pixels of the published PNG.
    struct Vector: Sendable, CustomStringConvertible {
        let description: String
        let ratio: Double
        let average: [Double]
        let size: PixelSize
        let checksum: UInt32
    }

    static let vectors = [
        Vector(
            description: "3OcRJYB4d3h/iIeHeEh3eIhw+j3A", ratio: 1.4,
            average: [0.415343915343915, 0.462962962962963, 0.455026455026455, 1],
            size: PixelSize(width: 32, height: 23),
            checksum: 0xE5BE_AA85),
        Vector(
            description: "2fcZFIB3iId/h3iJh4aIYJ2V8g", ratio: 1.75,
            average: [0.383597883597884, 0.399470899470899, 0.407407407407407, 1],
            size: PixelSize(width: 32, height: 18),
            checksum: 0x6B5C_E598),
        Vector(
            description: "YJqGPQw7sFltlqhFafSE+Q6oJ1h2iHB2Rw", ratio: 1,
            average: [0.759259259259259, 0.457671957671958, 0.306878306878307, 0.733333333333333],
            size: PixelSize(width: 32, height: 32), checksum: 0xA263_D0BE),
    ]

    @Test(arguments: PublishedVectorTests.vectors) func `a ThumbHash gives the published ratio, color and pixels`(
        vector: Vector
    ) throws {
        let hash = try #require(ThumbHash(base64: vector.description))
        let image = try #require(hash.image)

        #expect(abs(hash.aspectRatio - vector.ratio) < 1e-12)
        let color = vector.average.map { UInt8($0 * 255 + 0.5) }
        #expect(hash.averageColor == PixelColor(red: color[0], green: color[1], blue: color[2], alpha: color[3]))
        #expect(image.size == vector.size)
        #expect(Self.checksum(of: image.pixels) == vector.checksum)
        #expect(hash.base64.hasPrefix(vector.description))
    }

    /// The Adler-32 checksum of the rows, each after a zero byte as in an unfiltered PNG. Source: RFC 1950, section 9.
    private static func checksum(of pixels: PixelBuffer) -> UInt32 {
        var (a, b): (UInt32, UInt32) = (1, 0)
        for (index, byte) in pixels.tightBytes.enumerated() {
            if index % (4 * pixels.width) == 0 { b = (b + a) % 65_521 }
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return b << 16 | a
    }

    /// The hash and corner pixels of `tests/blurhash_out.npy` in the Python package blurhash 1.1.5 by Lorenz Diener
    /// (github.com/halcy/blurhash-python), made from `cool_cat.jpg`.
    @Test func `a BlurHash gives the published pixels`() throws {
        let hash = try #require(BlurHash("UBMOZfK1GG%LBBNG,;Rj2skq=eE1s9n4S5Na"))
        let pixels = try #require(hash.image(width: 32, height: 32)).pixels

        #expect(pixels.rgba(0, 0) == [170, 134, 82, 255])
        #expect(pixels.rgba(31, 0) == [192, 142, 105, 255])
        #expect(pixels.rgba(0, 31) == [186, 149, 104, 255])
        #expect(pixels.rgba(31, 31) == [186, 123, 69, 255])
        #expect(pixels.rgba(8, 16) == [197, 119, 50, 255])
    }

    /// The hashes of the fixtures of github.com/bbrks/go-blurhash and of the README of github.com/woltapp/blurhash. The
    /// pixels of 4 × 3 images, red, green and blue, are those of the Python package blurhash 1.1.5.
    @Test(arguments: [
        (
            "LEHV6nWB2yk8pyo0adR*.7kCMdnj",
            "87a4b1 a1adb1 b5b4ab a0acae 7c9aa9 94949a a49186 92989b 7c909a 908684 a38268 948c86"
        ),
        (
            "LFE.@D9F01_2%L%MIVD*9Goe-;WB",
            "5e5a54 6d6a5d 8f8c7b 838076 696556 797667 a9a796 9d9a8c 6e6a56 5d594d 9d9b8d a19f92"
        ),
    ])
    func `published hashes give the pixels of another implementation`(text: String, expected: String) throws {
        let pixels = try #require(BlurHash(text)?.image(width: 4, height: 3)).pixels

        let colors = (0..<12).map { index in
            let color = pixels.rgba(index % 4, index / 4)
            return PixelColor(red: color[0], green: color[1], blue: color[2]).opaqueDescription
        }
        #expect(colors.joined(separator: " ") == expected)
    }
}
