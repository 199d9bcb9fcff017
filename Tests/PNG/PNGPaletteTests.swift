import AlcedoCore
import AlcedoPNG
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Files with a palette to which the colors of an image are reduced.
@Suite struct PNGPaletteTests {
    private let decoder = PNGDecoder()

    private func makePixels(
        _ alphaMode: AlphaMode = .straight, _ size: PixelSize = PixelSize(width: 60, height: 40),
        _ pixel: (_ x: Int, _ y: Int) -> [Int]
    ) throws -> PixelBuffer {
        try #require(
            PixelBuffer(size: size, format: .rgba8, alphaMode: alphaMode) { memory, stride in
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        for (channel, value) in pixel(x, y).enumerated() {
                            memory[y * stride + 4 * x + channel] = UInt8(value)
                        }
                    }
                }
            })
    }

    /// Many colors, of which some are opaque, some translucent and some invisible.
    private func makeManyColors() throws -> PixelBuffer {
        try makePixels { x, y in [4 * x, 6 * y, 255 - 4 * x, x < 20 ? 255 : x < 30 ? 0 : 250 - 3 * (x - 30) - y] }
    }

    /// Returns bit depth and color type of the file.
    private func kind(_ data: Data) -> [UInt8] { Array(data.prefix(26).suffix(2)) }

    private func colorCount(_ data: Data) throws -> Int {
        let name = try #require(data.range(of: Data("PLTE".utf8)))
        return data[(name.lowerBound - 4)..<name.lowerBound].reduce(0) { $0 << 8 | Int($1) } / 3
    }

    private func decode(_ data: Data) throws -> PixelBuffer {
        try decoder.decode(data, options: DecodingOptions()).pixels
    }

    /// Returns the mean difference of samples, with alpha multiplied in.
    private func difference(_ a: PixelBuffer, _ b: PixelBuffer) -> Double {
        let (a, b) = (a.tightBytes, b.tightBytes)
        var sum = 0.0
        for pixel in stride(from: 0, to: a.count, by: 4) {
            let (alpha, other) = (Int(a[pixel + 3]), Int(b[pixel + 3]))
            sum += Double(abs(alpha - other))
            for channel in 0..<3 {
                sum += Double(abs(Int(a[pixel + channel]) * alpha - Int(b[pixel + channel]) * other)) / 255
            }
        }
        return sum / Double(a.count)
    }

    @Test(arguments: [(2, 1), (3, 2), (4, 2), (16, 4), (17, 8), (256, 8), (1, 1), (1000, 8)])
    func `colors are reduced to at most the maximum, in the fewest possible bits`(maximum: Int, bits: Int) throws {
        let pixels = try makePixels(.opaque) { x, y in [4 * x, 6 * y, (x * y) % 256, 255] }
        let data = try PNGEncoder(maximumColorCount: maximum).encode(DecodedImage(pixels: pixels))

        #expect(kind(data) == [UInt8(bits), 3])
        let count = try colorCount(data)
        #expect(count <= min(max(maximum, 2), 256))
        #expect(count > min(max(maximum, 2), 256) / 2)
        #expect(try decode(data).alphaMode == .opaque)
    }

    @Test(arguments: [false, true]) func `colors that fit into the maximum are exact`(isInterlaced: Bool) throws {
        for count in [2, 4, 5, 16, 100, 256] {
            let pixels = try makePixels { x, y in
                let color = (60 * y + x) % count
                return [color, 255 - color, 7, color % 3 == 0 ? 255 : color]
            }
            let encoder = PNGEncoder(maximumColorCount: count, isInterlaced: isInterlaced)
            let data = try encoder.encode(DecodedImage(pixels: pixels))

            #expect(try colorCount(data) == count)
            #expect(try decode(data).tightBytes == pixels.tightBytes)
        }
    }

    @Test(arguments: [false, true]) func `alpha is reduced with the colors`(dithers: Bool) throws {
        let pixels = try makeManyColors()
        let data = try PNGEncoder(maximumColorCount: 256, dithers: dithers).encode(DecodedImage(pixels: pixels))
        let back = try decode(data)

        #expect(kind(data) == [8, 3])
        #expect(difference(pixels, back) < (dithers ? 3 : 2.5))
        let (before, after) = (pixels.tightBytes, back.tightBytes)
        for index in stride(from: 3, to: before.count, by: 4) where before[index] == 255 || before[index] == 0 {
            #expect(after[index] == before[index])
        }
    }

    @Test func `colors that are not opaque come first, so that their alpha is short`() throws {
        let data = try PNGEncoder(maximumColorCount: 64).encode(DecodedImage(pixels: makeManyColors()))
        let name = try #require(data.range(of: Data("tRNS".utf8)))
        let count = data[(name.lowerBound - 4)..<name.lowerBound].reduce(0) { $0 << 8 | Int($1) }

        #expect(count < (try colorCount(data)))
        #expect(data[name.upperBound..<name.upperBound + count].allSatisfy { $0 < 255 })
    }

    @Test func `more colors and no dithering give a smaller difference`() throws {
        let pixels = try makeManyColors()
        let differences = try [4, 16, 64, 256].map { count in
            let encoder = PNGEncoder(maximumColorCount: count, dithers: false)
            return try difference(pixels, decode(encoder.encode(DecodedImage(pixels: pixels))))
        }
        #expect(differences == differences.sorted(by: >))
        let dithered = try decode(PNGEncoder(maximumColorCount: 16).encode(DecodedImage(pixels: pixels)))
        #expect(difference(pixels, dithered) > differences[1])
    }

    @Test(arguments: [false, true]) func `the same image gives the same file`(isInterlaced: Bool) throws {
        let image = DecodedImage(pixels: try makeManyColors())
        let encoder = PNGEncoder(maximumColorCount: 32, isInterlaced: isInterlaced)

        #expect(try encoder.encode(image) == encoder.encode(image))
        #expect(
            try decode(encoder.encode(image)) == decode(PNGEncoder(maximumColorCount: 32).encode(image)))
    }

    @Test func `other pixel formats are reduced, too`() throws {
        let size = PixelSize(width: 64, height: 4)
        let gray = try #require(
            PixelBuffer(size: size, format: .gray8, alphaMode: .opaque) { memory, stride in
                for y in 0..<4 { for x in 0..<64 { memory[y * stride + x] = UInt8(4 * x) } }
            })
        let deep = try #require(
            PixelBuffer(size: size, format: .rgba16, alphaMode: .straight) { memory, stride in
                for y in 0..<4 {
                    for x in 0..<256 {
                        let sample = x % 4 == 3 ? 65_535 : UInt16(x / 4 * 1_024)
                        memory.storeBytes(of: sample, toByteOffset: y * stride + 2 * x, as: UInt16.self)
                    }
                }
            })
        for pixels in [gray, deep, try makeManyColors().converted(to: .premultiplied)] {
            let data = try PNGEncoder(maximumColorCount: 16, dithers: false).encode(DecodedImage(pixels: pixels))
            #expect(kind(data) == [4, 3])
            let straight = try #require(pixels.straightRGBA(rowCount: pixels.height))
            #expect(difference(straight, try decode(data)) < 20)
        }
        // Levels that fit are exact.
        let exact = try PNGEncoder(maximumColorCount: 64).encode(DecodedImage(pixels: gray))
        #expect(try decode(exact).tightBytes == gray.tightBytes.flatMap { [$0, $0, $0, 255] })
    }

    @Test func `a reduced image keeps its profile and its orientation`() throws {
        let profile = try fixture("profile.icc")
        let image = DecodedImage(pixels: try makeManyColors(), colorProfile: profile, orientation: .right)
        let data = try PNGEncoder(maximumColorCount: 16).encode(image)
        let back = try decoder.decode(data, options: DecodingOptions(appliesOrientation: false))

        #expect(back.colorProfile == profile)
        #expect(back.orientation == .right)
    }

    @Test func `a row encoder writes the same file`() throws {
        let image = DecodedImage(pixels: try makeManyColors())
        let encoder = PNGEncoder(maximumColorCount: 32)
        var file = Data()
        let rows = encoder.makeRowEncoder { part in part.withUnsafeBytes { file.append(contentsOf: $0) } }
        try image.sendRows(to: rows)

        #expect(try file == encoder.encode(image))
    }

    @Test func `a reduced image is smaller than one with all colors`() throws {
        var random = SeededGenerator(seed: 5)
        let noise = try makePixels(.opaque) { _, _ in
            let color = (0..<3).map { _ in Int.random(in: 0...255, using: &random) }
            return color + [255]
        }
        let image = DecodedImage(pixels: noise)
        let sizes = try [nil, 256, 16].map { try PNGEncoder(maximumColorCount: $0).encode(image).count }

        #expect(sizes == sizes.sorted(by: >))
    }

    @Test func `memory for colors does not grow with the image`() {
        let encoder = PNGEncoder(maximumColorCount: 256)
        let sizes = [1_000, 2_000].map { PixelSize(width: $0, height: 1_000) }
        let bytes = sizes.map { encoder.encodingByteCount(of: $0, format: .rgba8) }

        // Straight pixels, indices, filtered indices and the file.
        #expect(bytes[1] - bytes[0] == 7_000_000)
        #expect(bytes[0] - 7_000_000 < 16 << 20)
    }

    @Test func `a canceled encode ends with an error`() async throws {
        let image = DecodedImage(pixels: try makeManyColors())
        for encoder in [PNGEncoder(maximumColorCount: 64), PNGEncoder(), PNGEncoder(isInterlaced: true)] {
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try encoder.encode(image)
            }
            let error = await #expect(throws: ImageEncodingError.self) { try await task.value }
            #expect(error?.code == .failed)
        }
    }
}
