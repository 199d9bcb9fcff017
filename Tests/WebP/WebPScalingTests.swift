import TestSupport
import AlcedoCore
import AlcedoWebP
import Foundation
import Testing

@Suite struct WebPScalingTests {
    private func decode(
        _ name: String, width: Int, height: Int, mode: ContentMode = .fit, appliesOrientation: Bool = true
    ) throws -> DecodedImage {
        let target = TargetSize(PixelSize(width: width, height: height), mode: mode)
        let options = DecodingOptions(appliesOrientation: appliesOrientation, target: target)
        return try WebPDecoder().decode(fixture(name), options: options)
    }

    @Test(arguments: ["lossless.webp", "lossless-alpha.webp", "lossy.webp", "lossy-alpha.webp"])
    func `a smaller target is decoded small`(name: String) throws {
        #expect(try decode(name, width: 7, height: 7).size == PixelSize(width: 5, height: 7))
        #expect(try decode(name, width: 7, height: 7, mode: .fill).size == PixelSize(width: 7, height: 9))
        #expect(try decode(name, width: 1, height: 1).size == PixelSize(width: 1, height: 1))
    }

    @Test(arguments: [(14, 18), (100, 100), (0, -3)])
    func `a target that is no smaller gives the file's size`(width: Int, height: Int) throws {
        #expect(try decode("lossless.webp", width: width, height: height).size == PixelSize(width: 14, height: 18))
    }

    @Test func `a small picture still shows the large one`() throws {
        let pixels = try decode("lossless.webp", width: 7, height: 9).pixels

        #expect(pixels.alphaMode == .opaque)
        for y in 0..<9 {
            let reds = (0..<7).map { pixels.rgba($0, y)[0] }
            #expect(reds == reds.sorted() && Set(reds).count == 7)
            // Two columns of the gradient, 0 and 20 (in red) at the left.
            #expect(abs(Int(reds[0]) - 10) <= 4)
        }
    }

    @Test func `a target is meant upright`() throws {
        let upright = try decode("metadata.webp", width: 9, height: 9)
        let stored = try decode("metadata.webp", width: 9, height: 9, appliesOrientation: false)

        #expect(upright.size == PixelSize(width: 9, height: 7))
        #expect(upright.orientation == .up)
        #expect(stored.size == PixelSize(width: 7, height: 9))
        #expect(stored.orientation == .right)
        #expect(stored.pixels.upright(from: .right) == upright.pixels)
    }
}
