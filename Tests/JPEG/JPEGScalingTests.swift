import TestSupport
import AlcedoCore
import AlcedoJPEG
import Foundation
import Testing

@Suite struct JPEGScalingTests {
    private let full = PixelSize(width: 150, height: 110)

    private func decode(
        _ name: String, _ width: Int, _ height: Int, mode: TargetSize.ContentMode = .fit,
        appliesOrientation: Bool = true
    ) throws -> DecodedImage {
        let target = TargetSize(width: width, height: height, mode: mode)
        let options = DecodingOptions(appliesOrientation: appliesOrientation, target: target)
        return try JPEGDecoder().decode(fixture(name), options: options)
    }

    @Test func `a small target is decoded at reduced size and matches the reference`() throws {
        let eighth = try decode("large.jpg", 19, 14)
        let quarter = try decode("large.jpg", 20, 20)

        #expect(eighth.size == PixelSize(width: 19, height: 14))
        #expect(eighth.pixels.tightBytes == (try reference("large-eighth.raw")))
        #expect(quarter.size == PixelSize(width: 38, height: 28))
        #expect(quarter.pixels.tightBytes == (try reference("large-quarter.raw")))
    }

    @Test func `fill needs a larger size than fit`() throws {
        #expect(try decode("large.jpg", 10, 20, mode: .fit).size == PixelSize(width: 19, height: 14))
        #expect(try decode("large.jpg", 10, 20, mode: .fill).size == PixelSize(width: 38, height: 28))
    }

    @Test(arguments: [TargetSize.ContentMode.fit, .fill])
    func `the decoded size is the smallest that is not below the target`(mode: TargetSize.ContentMode) throws {
        for (width, height) in [(1, 1), (18, 200), (19, 13), (57, 42), (58, 42), (75, 55), (76, 56), (149, 109)] {
            let size = try decode("large.jpg", width, height, mode: mode).size

            let need = full.scaled(to: PixelSize(width: width, height: height), mode: mode)
            let sizes = [1, 2, 4, 8].map { PixelSize(width: (150 * $0 + 7) / 8, height: (110 * $0 + 7) / 8) }
            #expect(size == sizes.first { $0.width >= need.width && $0.height >= need.height }, "\(width) x \(height)")
        }
    }

    @Test(arguments: [(150, 110), (1_000, 1_000), (0, 5), (-1, -1), (Int.max, Int.max)])
    func `a target at or above the file's size yields the file's size`(width: Int, height: Int) throws {
        #expect(try decode("large.jpg", width, height).size == full)
    }

    @Test(arguments: ["gray.jpg", "444.jpg", "422.jpg", "progressive.jpg", "restart.jpg", "cmyk.jpg", "ycck.jpg"])
    func `every kind of file is reduced`(name: String) throws {
        let image = try decode(name, 5, 4)
        let whole = try decode(name, 33, 25)

        #expect(image.size == PixelSize(width: 5, height: 4))
        #expect(image.pixels.alphaMode == .opaque)
        let bytes = image.pixels.tightBytes
        #expect(stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 })
        for channel in 0..<3 {
            // The last column and row cover one pixel each, the others eight.
            let small = mean(channel, of: image.pixels, width: 4, height: 3)
            #expect(abs(small - mean(channel, of: whole.pixels, width: 32, height: 24)) < 3)
        }
    }

    /// Returns the mean over the upper left of an image.
    private func mean(_ channel: Int, of pixels: PixelBuffer, width: Int, height: Int) -> Double {
        let sum = (0..<height).reduce(0) { sum, y in
            (0..<width).reduce(sum) { $0 + Int(pixels.rgba($1, y)[channel]) }
        }
        return Double(sum) / Double(width * height)
    }

    @Test func `a target applies to the upright image`() throws {
        let upright = try decode("exif6.jpg", 13, 17)
        let stored = try decode("exif6.jpg", 13, 17, appliesOrientation: false)

        #expect(upright.size == PixelSize(width: 13, height: 17))
        #expect(upright.orientation == .up)
        #expect(stored.size == PixelSize(width: 17, height: 13))
        #expect(stored.orientation == .right)
        #expect(try stored.pixels.upright(from: .right) == upright.pixels)
    }

    @Test func `limits apply to the reduced image, except the limit of the file's pixels`() throws {
        let file = try fixture("large.jpg")
        func fails(_ limits: DecodingLimits) -> Bool {
            let target = TargetSize(width: 19, height: 14)
            return (try? JPEGDecoder().decode(file, options: DecodingOptions(limits: limits, target: target))) == nil
        }

        // In gray the whole image has rows of 192 bytes.
        #expect(!fails(DecodingLimits(maximumPixelCount: 150 * 110, maximumByteCount: 192 * 110)))
        #expect(fails(DecodingLimits(maximumPixelCount: 150 * 110 - 1)))
        #expect(fails(DecodingLimits(maximumByteCount: 192 * 110 - 1)))
        #expect(errorCode(file, limits: DecodingLimits(maximumByteCount: 192 * 110)) == .exceedsLimit)
    }
}
