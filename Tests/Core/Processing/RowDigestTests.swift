import AlcedoCore
import AlcedoRuntime
import Testing

@Suite struct RowDigestTests {
    /// Returns 3 x 2 pixels of this format, with bytes from 1 and the given alpha samples.
    private func image(_ format: PixelFormat, _ mode: AlphaMode, alpha: [[UInt8]]) throws -> DecodedImage {
        let size = PixelSize(width: 3, height: 2)
        let bytes = format.bytesPerPixel
        let pixels = PixelBuffer(size: size, format: format, alphaMode: mode) { memory, stride in
            for y in 0..<2 {
                for x in 0..<3 {
                    let start = y * stride + x * bytes
                    for index in 0..<bytes { memory[start + index] = UInt8(1 + (y * 3 + x) * bytes + index) }
                    for (index, value) in alpha[y * 3 + x].enumerated() {
                        memory[start + bytes - alpha[y * 3 + x].count + index] = value
                    }
                }
            }
        }
        return DecodedImage(pixels: try #require(pixels))
    }

    private func digest(_ image: DecodedImage, clearsTransparent: Bool) throws -> String? {
        let digest = RowDigest(clearsTransparent: clearsTransparent)
        try image.sendRows(to: digest)
        return digest.hexadecimal
    }

    private func expected(_ bytes: [UInt8]) -> String {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finalizedHexadecimal()
    }

    /// The rows without padding.
    private func bytes(_ image: DecodedImage) -> [UInt8] {
        (0..<image.size.height).flatMap { y in image.pixels.row(y).withUnsafeBytes { Array($0) } }
    }

    @Test(arguments: PixelFormat.allCases) func `rows are hashed unchanged`(format: PixelFormat) throws {
        let image = try image(format, .straight, alpha: Array(repeating: [], count: 6))
        #expect(bytes(image).count == 6 * format.bytesPerPixel)
        #expect(try digest(image, clearsTransparent: false) == expected(bytes(image)))
        #expect(try digest(image, clearsTransparent: true) == expected(bytes(image)))
    }

    @Test(arguments: [AlphaMode.straight, .premultiplied])
    func `transparent pixels are hashed as zeros on request`(mode: AlphaMode) throws {
        let image = try image(.rgba8, mode, alpha: [[0], [5], [0], [255], [0], [1]])
        var cleared = bytes(image)
        for pixel in [0, 2, 4] { cleared.replaceSubrange(4 * pixel..<4 * pixel + 4, with: [0, 0, 0, 0]) }

        #expect(try digest(image, clearsTransparent: true) == expected(cleared))
        #expect(try digest(image, clearsTransparent: false) == expected(bytes(image)))
    }

    @Test func `a 16-bit pixel is transparent when both bytes of its alpha are zero`() throws {
        let image = try image(.rgba16, .straight, alpha: [[0, 0], [0, 1], [1, 0], [9, 9], [0, 0], [255, 255]])
        var cleared = bytes(image)
        for pixel in [0, 4] { cleared.replaceSubrange(8 * pixel..<8 * pixel + 8, with: repeatElement(0, count: 8)) }

        #expect(try digest(image, clearsTransparent: true) == expected(cleared))
    }

    @Test func `opaque images need no clearing`() throws {
        for format in PixelFormat.allCases {
            let image = try image(format, .opaque, alpha: Array(repeating: [0], count: 6))
            #expect(try digest(image, clearsTransparent: true) == expected(bytes(image)))
        }
    }

    @Test func `there is no digest before the end, and a second image starts again`() throws {
        let image = try image(.gray8, .opaque, alpha: Array(repeating: [], count: 6))
        let digest = RowDigest()
        try digest.begin(image.rowHeader)
        try digest.consume(image.pixels.row(0))
        #expect(digest.hexadecimal == nil)

        try image.sendRows(to: digest)

        #expect(digest.hexadecimal == expected(bytes(image)))
        try digest.begin(image.rowHeader)
        #expect(digest.hexadecimal == nil)
    }
}
