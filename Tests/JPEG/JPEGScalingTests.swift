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
        let quarter = try decode("large.jpg", 20, 20)

        #expect(quarter.size == PixelSize(width: 38, height: 28))
        // Chroma blocks cover 16 pixels. libjpeg's samples of the last ones depend on pixels outside of the image.
        let expected = try reference("large-quarter.raw")
        let whole = PixelSize(width: 150 / 16 * 4, height: 110 / 16 * 4)
        for y in 0..<whole.height {
            let row = y * 38 * 4..<y * 38 * 4 + whole.width * 4
            #expect(quarter.pixels.tightBytes[row] == expected[row], "row \(y)")
        }
    }

    @Test func `an eighth is used for a sequential file only if its blocks lie inside of the image`() throws {
        #expect(try decode("large.jpg", 10, 10).size == PixelSize(width: 38, height: 28))
        let whole = try #require(
            PixelBuffer(size: PixelSize(width: 160, height: 112), format: .rgba8, alphaMode: .opaque))
        let file = try JPEGEncoder(quality: 80).encode(DecodedImage(pixels: whole))

        let image = try JPEGDecoder().decode(file, options: DecodingOptions(target: TargetSize(width: 10, height: 10)))

        #expect(image.size == PixelSize(width: 20, height: 14))
    }

    /// The pixels for a sample of chrominance, or `nil` for a gray image.
    private static let subsamplings: [(width: Int, height: Int)?] = [(1, 1), (2, 1), (2, 2), (1, 2), (4, 1), nil]

    // An image of one color whose blocks hold another color outside of the image, as after a crop without decoding. The
    // stored samples are exact within 1. In other colors, this can be 3 in blue, as in the full image.
    @Test(arguments: subsamplings.indices, [false, true])
    func `pixels outside of the image never show`(subsampling: Int, isProgressive: Bool) throws {
        let chroma = Self.subsamplings[subsampling]
        let maker = JPEGMaker(chroma: chroma, isProgressive: isProgressive)
        // The number of blocks must not change with the size. In a progressive file, that of luminance counts.
        let mcu =
            isProgressive ? (width: 8, height: 8) : (width: 8 * (chroma?.width ?? 1), height: 8 * (chroma?.height ?? 1))
        for count in 1..<max(mcu.width, mcu.height) {
            let hidden = (width: count % mcu.width, height: count % mcu.height)
            // The side of a progressive file is no multiple of an MCU, so that a sample of chrominance can be cut
            // there.
            let coded = isProgressive ? (width: 104, height: 72) : (width: 128, height: 96)
            let size = PixelSize(width: coded.width - hidden.width, height: coded.height - hidden.height)
            let whole = maker.file(width: coded.width, height: coded.height) { x, y in
                x < size.width && y < size.height ? [60, 60, 60] : [255, 255, 0]
            }
            let file = JPEGEditor.resizing(whole, to: UInt16(size.width), UInt16(size.height))
            let color = try JPEGDecoder().decode(file, options: DecodingOptions()).pixels.rgba(0, 0)
            for divisor in [2, 4, 8] {
                for orientation in ImageOrientation.allCases {
                    let turned = JPEGEditor.inserting(
                        JPEGEditor.exif(orientation: UInt8(orientation.rawValue)), into: file)
                    let upright = orientation.swapsSides ? size.transposed : size
                    let target = TargetSize(width: upright.width / divisor, height: upright.height / divisor)
                    let image = try JPEGDecoder().decode(turned, options: DecodingOptions(target: target))

                    // An eighth of a sequential file is used only if no block that gives one sample is cut.
                    let position = try #require(image.reduction)
                    let used = Int((Double(upright.width) / position.width).rounded())
                    let comment: Comment = "\(size) at 1/\(divisor), \(orientation)"
                    #expect(used == divisor || used == 4 && divisor == 8 && !isProgressive, comment)
                    #expect(position.height == Double(upright.height) / Double(used), comment)
                    let distance = image.pixels.tightBytes.enumerated().map { abs(Int($1) - Int(color[$0 % 4])) }.max()
                    #expect(distance ?? 255 <= 2, comment)
                }
            }
        }
    }

    @Test func `fill needs a larger size than fit`() throws {
        #expect(try decode("large.jpg", 20, 40, mode: .fit).size == PixelSize(width: 38, height: 28))
        #expect(try decode("large.jpg", 20, 40, mode: .fill).size == PixelSize(width: 75, height: 55))
    }

    @Test(arguments: [TargetSize.ContentMode.fit, .fill])
    func `the decoded size is the smallest that is not below the target`(mode: TargetSize.ContentMode) throws {
        for (width, height) in [(1, 1), (18, 200), (19, 13), (57, 42), (58, 42), (75, 55), (76, 56), (149, 109)] {
            let size = try decode("large.jpg", width, height, mode: mode).size

            let need = full.scaled(to: PixelSize(width: width, height: height), mode: mode)
            // Not an eighth, because the last blocks of the file lie partly outside of the image.
            let sizes = [2, 4, 8].map { PixelSize(width: (150 * $0 + 7) / 8, height: (110 * $0 + 7) / 8) }
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

        // An eighth of a sequential file would depend on pixels outside of the image.
        let divisor = name == "progressive.jpg" ? 8 : 4
        #expect(image.size == PixelSize(width: 32 / divisor + 1, height: 24 / divisor + 1))
        #expect(image.pixels.alphaMode == .opaque)
        let bytes = image.pixels.tightBytes
        #expect(stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 })
        for channel in 0..<3 {
            // The last column and row cover one pixel each.
            let small = mean(channel, of: image.pixels, width: 32 / divisor, height: 24 / divisor)
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
