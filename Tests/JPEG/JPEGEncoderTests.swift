import AlcedoCore
import AlcedoJPEG
import Foundation
import TestSupport
import Testing

@Suite struct JPEGEncoderTests {
    private let decoder = JPEGDecoder()

    private func gradient(_ format: PixelFormat, alpha: UInt8 = 255) throws -> DecodedImage {
        let size = PixelSize(width: 45, height: 31)
        let mode: AlphaMode = alpha == 255 ? .opaque : .straight
        let buffer = try #require(
            PixelBuffer(size: size, format: format, alphaMode: mode) { memory, stride in
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        let rgba = [UInt8(x * 5), UInt8(y * 8), 90, alpha]
                        switch format {
                        case .gray8: memory[y * stride + x] = rgba[0]
                        case .rgba8, .rgbx8:
                            for channel in 0..<4 { memory[y * stride + 4 * x + channel] = rgba[channel] }
                        case .gray16:
                            memory.storeBytes(
                                of: UInt16(rgba[0]) << 8 | 17, toByteOffset: y * stride + 2 * x, as: UInt16.self)
                        case .rgba16:
                            for channel in 0..<4 {
                                memory.storeBytes(
                                    of: UInt16(rgba[channel]) << 8 | 17, toByteOffset: y * stride + 8 * x + 2 * channel,
                                    as: UInt16.self)
                            }
                        }
                    }
                }
            })
        return DecodedImage(pixels: buffer)
    }

    /// Returns the mean difference of the samples of two images.
    private func distance(_ a: [UInt8], _ b: [UInt8]) -> Double {
        Double(zip(a, b).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(max(1, a.count))
    }

    @Test(arguments: [PixelFormat.rgba8, .rgbx8, .rgba16])
    func `colors of every pixel format survive`(format: PixelFormat) throws {
        let data = try JPEGEncoder(quality: 95, subsampling: .none).encode(gradient(format))

        let expected = try gradient(.rgba8).pixels.tightBytes
        let decoded = try decoder.decode(data, options: DecodingOptions()).pixels
        #expect(distance(decoded.tightBytes, expected) < 1)
        #expect(try decoder.inspect(data, limits: DecodingLimits()).colorModel == .yCbCr)
    }

    @Test func `gray stays gray`() throws {
        let image = try gradient(.gray8)

        let data = try JPEGEncoder(quality: 95).encode(image)

        #expect(try decoder.inspect(data, limits: DecodingLimits()).colorModel == .gray)
        let decoded = try decoder.decode(data, options: DecodingOptions(pixelFormat: .gray8)).pixels
        #expect(distance(decoded.tightBytes, image.pixels.tightBytes) < 1)
    }

    @Test(arguments: JPEGSubsampling.allCases)
    func `every subsampling is encoded and decoded`(subsampling: JPEGSubsampling) throws {
        let image = try gradient(.rgba8)
        let data = try JPEGEncoder(quality: 90, subsampling: subsampling).encode(image)

        let frame = try #require(JPEGEditor.range(of: 0xC0, in: data)).lowerBound
        let factors: [JPEGSubsampling: UInt8] = [
            .auto: 0x11, .none: 0x11, .horizontal: 0x21, .vertical: 0x12, .both: 0x22,
        ]
        #expect(data[frame + 11] == factors[subsampling])
        let decoded = try decoder.decode(data, options: DecodingOptions()).pixels
        #expect(distance(decoded.tightBytes, image.pixels.tightBytes) < 3)
    }

    @Test func `chrominance is subsampled below a quality of 90 by default`() throws {
        let image = try gradient(.rgba8)
        for (quality, factors) in [(1, 0x22), (89, 0x22), (90, 0x11), (200, 0x11)] as [(Int, UInt8)] {
            let data = try JPEGEncoder(quality: quality).encode(image)
            let frame = try #require(JPEGEditor.range(of: 0xC0, in: data)).lowerBound
            #expect(data[frame + 11] == factors)
        }
    }

    @Test func `columns of saturated colors are exact within 2 at the best quality`() throws {
        let size = PixelSize(width: 32, height: 16)
        let pixels = try #require(
            PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, bytesPerRow in
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        let color: [UInt8] = x % 2 == 0 ? [255, 0, 0, 255] : [0, 0, 255, 255]
                        for channel in 0..<4 { memory[y * bytesPerRow + 4 * x + channel] = color[channel] }
                    }
                }
            })
        let data = try JPEGEncoder(quality: 100).encode(DecodedImage(pixels: pixels))
        let decoded = try decoder.decode(data, options: DecodingOptions()).pixels
        #expect(zip(decoded.tightBytes, pixels.tightBytes).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
    }

    /// Noise, which fills more than the encoder's first buffer.
    @Test(arguments: [false, true])
    func `output larger than the first buffer is complete`(isProgressive: Bool) throws {
        let size = PixelSize(width: 1_500, height: 40)
        var generator = SeededGenerator(seed: 5)
        let pixels = PixelBuffer(size: size, format: .gray8, alphaMode: .opaque) { memory, _ in
            for index in memory.indices { memory[index] = UInt8.random(in: 0...255, using: &generator) }
        }
        let image = DecodedImage(pixels: try #require(pixels))

        let data = try JPEGEncoder(quality: 100, isProgressive: isProgressive).encode(image)

        #expect(data.count > 3 << 14)
        let decoded = try decoder.decode(data, options: DecodingOptions(pixelFormat: .gray8)).pixels
        #expect(distance(decoded.tightBytes, image.pixels.tightBytes) < 2)
    }

    @Test func `quality changes the size, and entropy coding changes no pixel`() throws {
        let image = try gradient(.rgba8)
        func pixels(_ encoder: JPEGEncoder) throws -> [UInt8] {
            try decoder.decode(encoder.encode(image), options: DecodingOptions()).pixels.tightBytes
        }
        let plain = try JPEGEncoder(quality: 80).encode(image)
        let optimized = try JPEGEncoder(quality: 80, optimizesHuffman: true).encode(image)
        let progressive = try JPEGEncoder(quality: 80, isProgressive: true).encode(image)

        #expect(try JPEGEncoder(quality: 20).encode(image).count < plain.count)
        #expect(optimized.count < plain.count)
        #expect(JPEGEditor.range(of: 0xC2, in: progressive) != nil)
        let expected = try pixels(JPEGEncoder(quality: 80))
        #expect(try pixels(JPEGEncoder(quality: 80, optimizesHuffman: true)) == expected)
        #expect(try pixels(JPEGEncoder(quality: 80, isProgressive: true)) == expected)
        #expect(try JPEGEncoder(quality: 0).encode(image) == JPEGEncoder(quality: 1).encode(image))
    }

    @Test func `profile and orientation are encoded and decoded`() throws {
        let profile = try fixture("profile.icc")
        var image = try gradient(.rgba8)
        image.colorProfile = profile
        image.orientation = .right

        let data = try JPEGEncoder().encode(image)

        let info = try decoder.inspect(data, limits: DecodingLimits())
        #expect(info.metadata.colorProfile == profile)
        #expect(info.orientation == .right)
        let upright = try decoder.decode(data, options: DecodingOptions())
        #expect(upright.size == PixelSize(width: 31, height: 45))
        #expect(upright.orientation == .up)
        image.colorProfile = Data(repeating: 1, count: 200)
        let unfit = try decoder.inspect(JPEGEncoder().encode(image), limits: DecodingLimits())
        #expect(unfit.metadata.colorProfile == nil)
    }

    @Test func `EXIF data that is too large with its orientation is omitted, and the orientation is written`() throws {
        var image = try gradient(.rgba8)
        image.orientation = .left
        // A TIFF header, an empty directory and as many bytes as the marker holds.
        let exif = Data("MM\0*\0\0\0\u{8}\0\0\0\0\0\0".utf8) + Data(repeating: 7, count: 65_527 - 14)
        for (count, isKept) in [(65_527, false), (65_527 - 20, true)] {
            let file = try JPEGEncoder().embedding(exif: exif.prefix(count)).encode(image)

            #expect(try decoder.decode(file, options: DecodingOptions(appliesOrientation: false)).orientation == .left)
            let written = try decoder.inspect(file, limits: DecodingLimits()).metadata.exif
            #expect(written.map { $0.count > 1_000 } == isKept)
        }
    }

    @Test func `a profile that fills 255 markers is written, and one that is a byte larger is omitted`() throws {
        let limits = DecodingLimits(maximumMetadataByteCount: 32 << 20, maximumChunkByteCount: 32 << 20)
        var profile = Data(count: 255 * 65_519)
        profile.replaceSubrange(16..<20, with: Data("RGB ".utf8))
        var image = try gradient(.rgba8)

        image.colorProfile = profile
        #expect(try decoder.inspect(JPEGEncoder().encode(image), limits: limits).metadata.colorProfile == profile)
        image.colorProfile = profile + [0]
        #expect(try decoder.inspect(JPEGEncoder().encode(image), limits: limits).metadata.colorProfile == nil)
    }

    @Test func `transparency is blended over the background`() throws {
        let clear = try gradient(.rgba8, alpha: 0)

        for (background, expected) in [(PixelColor.white, UInt8(255)), (.black, 0)] {
            let data = try JPEGEncoder(background: background).encode(clear)
            let bytes = try decoder.decode(data, options: DecodingOptions()).pixels.tightBytes
            #expect(bytes.enumerated().allSatisfy { $0.offset % 4 == 3 || $0.element == expected })
        }
    }

    @Test func `rows are encoded as they arrive and give the same bytes`() throws {
        let image = try gradient(.rgba8, alpha: 100)
        var pieces: [[UInt8]] = []
        let encoder = JPEGEncoder().makeRowEncoder { bytes in
            pieces.append(bytes.withUnsafeBytes { Array($0) })
        }

        try image.sendRows(to: encoder)

        #expect(pieces.count >= 2)
        #expect(Data(pieces.joined()) == (try JPEGEncoder().encode(image)))
    }

    @Test func `16-bit gray is written as 8-bit gray`() throws {
        let size = PixelSize(width: 16, height: 8)
        let pixels = try #require(
            PixelBuffer(size: size, format: .gray16, alphaMode: .opaque) { memory, bytesPerRow in
                for y in 0..<8 {
                    for x in 0..<16 {
                        let sample = UInt16(x << 12 | 0xFF)
                        memory.storeBytes(of: sample, toByteOffset: y * bytesPerRow + 2 * x, as: UInt16.self)
                    }
                }
            })
        let data = try JPEGEncoder(quality: 100).encode(DecodedImage(pixels: pixels))

        #expect(JPEGEncoder().canEncode(DecodedImage(pixels: pixels)))
        #expect(try decoder.inspect(data, limits: DecodingLimits()).colorModel == .gray)
        let decoded = try decoder.decode(data, options: DecodingOptions(pixelFormat: .gray8)).pixels
        let row = decoded.tightBytes.prefix(16)
        #expect(row.enumerated().allSatisfy { abs(Int($1) - $0 * 16) <= 2 })
    }

    @Test(arguments: [PixelFormat.gray8, .rgbx8, .rgba16, .gray16])
    func `a row with fewer bytes than its header says is an error`(format: PixelFormat) throws {
        let rows = JPEGEncoder().makeRowEncoder { _ in }
        let header = PixelRowHeader(size: PixelSize(width: 9, height: 2), format: format, alphaMode: .opaque)
        try rows.begin(header)
        let row = [UInt8](repeating: 0, count: header.bytesPerRow - 1)

        let error = #expect(throws: ImageEncodingError.self) { try row.withUnsafeBytes { try rows.consume($0.bytes) } }

        #expect(error?.code == .failed)
    }

    @Test func `oversized images are refused, and errors of the output are rethrown`() throws {
        struct Full: Error {}
        let long = try #require(
            PixelBuffer(size: PixelSize(width: 65_501, height: 1), format: .gray8, alphaMode: .opaque))
        let failing = JPEGEncoder().makeRowEncoder { _ in throw Full() }

        #expect(throws: ImageEncodingError.self) { try JPEGEncoder().encode(DecodedImage(pixels: long)) }
        #expect(throws: Full.self) { try gradient(.rgba8).sendRows(to: failing) }
    }
}
