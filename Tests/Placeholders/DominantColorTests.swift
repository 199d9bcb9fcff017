import AlcedoCore
import AlcedoPlaceholders
import AlcedoTesting
import TestSupport
import Testing

@Suite struct DominantColorTests {
    /// An image of one row with the given pixels.
    private func row(_ pixels: [SIMD4<UInt8>]) throws -> DecodedImage {
        let buffer = PixelBuffer(
            size: PixelSize(width: pixels.count, height: 1), format: .rgba8, alphaMode: .straight
        ) { memory, _ in
            for (x, pixel) in pixels.enumerated() {
                memory.storeBytes(of: pixel, toByteOffset: 4 * x, as: SIMD4<UInt8>.self)
            }
        }
        return DecodedImage(pixels: try #require(buffer))
    }

    private func repeated(_ pixel: SIMD4<UInt8>, _ count: Int) -> [SIMD4<UInt8>] {
        Array(repeating: pixel, count: count)
    }

    @Test func `the most common color is found, and not the average`() throws {
        let image = try row(repeated(SIMD4(200, 0, 0, 255), 5) + repeated(SIMD4(0, 0, 200, 255), 4))

        #expect(try image.dominantColor() == PixelColor(red: 200, green: 0, blue: 0))
    }

    @Test func `similar colors count together, also across the border of a cube`() throws {
        let similar = repeated(SIMD4(15, 100, 100, 255), 3) + repeated(SIMD4(17, 100, 100, 255), 3)

        #expect(
            try row(similar + repeated(SIMD4(250, 250, 250, 255), 5)).dominantColor()
                == PixelColor(red: 16, green: 100, blue: 100))
    }

    @Test func `transparent pixels do not count`() throws {
        let image = try row(repeated(SIMD4(9, 9, 9, 20), 8) + repeated(SIMD4(0, 240, 0, 255), 1))

        #expect(try image.dominantColor() == PixelColor(red: 0, green: 240, blue: 0))
        #expect(try row(repeated(SIMD4(9, 9, 9, 0), 4)).dominantColor() == nil)
    }

    @Test func `white and black are found at the ends of the cubes`() throws {
        #expect(try DecodedImage.gray(side: 300, level: 255).dominantColor() == .white)
        #expect(try DecodedImage.gray(side: 3, level: 0).dominantColor() == .black)
    }
}
