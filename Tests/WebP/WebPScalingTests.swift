import TestSupport
import AlcedoCore
import AlcedoTesting
import AlcedoWebP
import Foundation
import Testing

@Suite struct WebPScalingTests {
    private func decode(
        _ name: String, width: Int, height: Int, mode: TargetSize.ContentMode = .fit, appliesOrientation: Bool = true
    ) throws -> DecodedImage {
        let target = TargetSize(width: width, height: height, mode: mode)
        let options = DecodingOptions(appliesOrientation: appliesOrientation, target: target)
        return try WebPDecoder().decode(fixture(name), options: options)
    }

    @Test(arguments: ["lossless.webp", "lossless-alpha.webp", "lossy.webp", "lossy-alpha.webp"])
    func `a smaller target is decoded at reduced size`(name: String) throws {
        #expect(try decode(name, width: 7, height: 7).size == PixelSize(width: 5, height: 7))
        #expect(try decode(name, width: 7, height: 7, mode: .fill).size == PixelSize(width: 7, height: 9))
        #expect(try decode(name, width: 1, height: 1).size == PixelSize(width: 1, height: 1))
    }

    @Test(arguments: [(14, 18), (100, 100), (0, -3)])
    func `a target at or above the file's size yields the file's size`(width: Int, height: Int) throws {
        #expect(try decode("lossless.webp", width: width, height: height).size == PixelSize(width: 14, height: 18))
    }

    @Test func `a reduced image shows the full one`() throws {
        let pixels = try decode("lossless.webp", width: 7, height: 9).pixels

        #expect(pixels.alphaMode == .opaque)
        for y in 0..<9 {
            let reds = (0..<7).map { pixels.rgba($0, y)[0] }
            #expect(reds == reds.sorted())
            #expect(Set(reds).count == 7)
            // Two columns of the gradient, 0 and 20 (in red) at the left.
            #expect(abs(Int(reds[0]) - 10) <= 4)
        }
    }

    @Test func `a target applies to the upright image`() throws {
        let upright = try decode("metadata.webp", width: 9, height: 9)
        let stored = try decode("metadata.webp", width: 9, height: 9, appliesOrientation: false)

        #expect(upright.size == PixelSize(width: 9, height: 7))
        #expect(upright.orientation == .up)
        #expect(stored.size == PixelSize(width: 7, height: 9))
        #expect(stored.orientation == .right)
        #expect(try stored.pixels.upright(from: .right) == upright.pixels)
    }

    /// Returns a lossy image with smooth colors.
    private func smooth(_ size: PixelSize) throws -> Data {
        let pixels = try #require(
            PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, bytesPerRow in
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        let (across, down) = (x * 255 / size.width, y * 255 / size.height)
                        let pixel = [UInt8(across), UInt8(down), UInt8((across + down) / 2), 255]
                        memory[(y * bytesPerRow + 4 * x)..<(y * bytesPerRow + 4 * x + 4)].copyBytes(from: pixel)
                    }
                }
            })
        return try WebPEncoder(compression: .lossy(quality: 95)).encode(DecodedImage(pixels: pixels))
    }

    @Test(arguments: [(151, 103), (32, 320), (300, 33), (66, 64)], [1, 7, 23])
    func `a reduced lossy image is the mean of the full one`(full: (width: Int, height: Int), side: Int) throws {
        let file = try smooth(PixelSize(width: full.width, height: full.height))
        let whole = try WebPDecoder().decode(file, options: DecodingOptions()).pixels
        let target = TargetSize(width: side, height: side)

        let small = try WebPDecoder().decode(file, options: DecodingOptions(target: target)).pixels

        #expect(small.size == whole.size.scaled(to: target.size, mode: .fit))
        #expect(small.alphaMode == .opaque)
        for y in 0..<small.height {
            for x in 0..<small.width {
                let mean = mean(
                    of: whole, left: Double(x) * Double(whole.width) / Double(small.width),
                    top: Double(y) * Double(whole.height) / Double(small.height),
                    width: Double(whole.width) / Double(small.width),
                    height: Double(whole.height) / Double(small.height))
                for channel in 0..<3 {
                    let sample = Double(small.rgba(x, y)[channel])
                    #expect(abs(sample - mean[channel]) < 9, "\(x), \(y): \(small.rgba(x, y)), not \(mean)")
                }
            }
        }
    }

    private func mean(
        of pixels: PixelBuffer, left: Double, top: Double, width: Double, height: Double
    ) -> SIMD4<Double> {
        var sum = SIMD4<Double>(repeating: 0)
        for y in Int(top)..<min(pixels.height, Int((top + height).rounded(.up))) {
            for x in Int(left)..<min(pixels.width, Int((left + width).rounded(.up))) {
                let across = min(Double(x) + 1, left + width) - max(Double(x), left)
                let down = min(Double(y) + 1, top + height) - max(Double(y), top)
                let pixel = pixels.rgba(x, y)
                for channel in 0..<4 { sum[channel] += across * down * Double(pixel[channel]) }
            }
        }
        return sum / (width * height)
    }

    @Test func `rows of a reduced lossy image equal the image, also when it is truncated`() throws {
        let file = try smooth(PixelSize(width: 200, height: 900))
        let options = DecodingOptions(target: TargetSize(width: 40, height: 300))
        try DecoderChecks(WebPDecoder(), options: options).checkRows(file)
        let collector = PixelRowCollector()
        try WebPDecoder().decodeRows(file, options: options, into: collector)
        #expect(try collector.image?.pixels == WebPDecoder().decode(file, options: options).pixels)

        for count in stride(from: 0, to: file.count, by: 97) {
            #expect(throws: ImageDecodingError.self) {
                try WebPDecoder().decode(file.prefix(count), options: options)
            }
        }
    }
}
