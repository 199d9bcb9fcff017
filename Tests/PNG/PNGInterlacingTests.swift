import AlcedoCore
@testable import AlcedoPNG
import Foundation
import TestSupport
import Testing

/// Interlaced files, which libpng decodes.
@Suite struct PNGInterlacingTests {
    private let encoder = PNGEncoder(isInterlaced: true)

    /// Sizes whose passes have no columns, no rows, or one more or less than others.
    private static let sizes = [(1, 1), (2, 3), (5, 1), (1, 9), (4, 4), (7, 8), (9, 5), (37, 23)].map { sides in
        PixelSize(width: sides.0, height: sides.1)
    }

    private func makePixels(_ size: PixelSize, _ format: PixelFormat, _ alphaMode: AlphaMode) throws -> PixelBuffer {
        try #require(
            PixelBuffer(size: size, format: format, alphaMode: alphaMode) { memory, stride in
                let pixelBytes = format.bytesPerPixel
                let sampleBytes = format.isDeep ? 2 : 1
                for y in 0..<size.height {
                    for index in 0..<size.width * pixelBytes {
                        let isAlpha = pixelBytes >= 4 && index % pixelBytes >= 3 * sampleBytes
                        memory[y * stride + index] =
                            isAlpha && alphaMode == .opaque ? 255 : UInt8((index * 7 + y * 31) % 251)
                    }
                }
            })
    }

    private func isInterlaced(_ data: Data) -> Bool { data[28] == 1 }

    @Test(arguments: [
        (PixelFormat.rgba8, AlphaMode.straight), (.rgba8, .opaque), (.rgbx8, .opaque), (.gray8, .opaque),
        (.gray16, .opaque), (.rgba16, .straight), (.rgba16, .opaque),
    ])
    func `interlaced pixels are exact`(format: PixelFormat, mode: AlphaMode) throws {
        for size in Self.sizes {
            let pixels = try makePixels(size, format, mode)
            for palette in [false, true] {
                var encoder = encoder
                encoder.usesPaletteWhenLossless = palette
                let data = try encoder.encode(DecodedImage(pixels: pixels))
                let plain = try PNGEncoder(usesPaletteWhenLossless: palette).encode(DecodedImage(pixels: pixels))

                #expect(isInterlaced(data) && !isInterlaced(plain))
                let options = DecodingOptions(pixelFormat: format == .rgbx8 ? .rgba8 : format)
                let back = try PNGDecoder().decode(data, options: options).pixels
                #expect(back == (try PNGDecoder().decode(plain, options: options).pixels), "\(size) \(palette)")
                #expect(back.tightBytes == pixels.tightBytes || format == .rgbx8, "\(size) \(palette)")
            }
        }
    }

    @Test(arguments: [(2, 1), (4, 2), (16, 4), (256, 8)])
    func `indices of every number of bits are interlaced`(colors: Int, bits: Int) throws {
        for size in Self.sizes where size.pixelCount > colors {
            let pixels = try #require(
                PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) { memory, stride in
                    for y in 0..<size.height {
                        for x in 0..<size.width {
                            let color = (y * size.width + x) % colors
                            for (channel, value) in [color, 255 - color, 9, 200].enumerated() {
                                memory[y * stride + 4 * x + channel] = UInt8(value)
                            }
                        }
                    }
                })
            var image = DecodedImage(pixels: pixels)
            image.storedModel = .palette
            let data = try encoder.encode(image)

            #expect(Array(data.prefix(26).suffix(2)) == [UInt8(bits), 3])
            #expect(try PNGDecoder().decode(data, options: DecodingOptions()).pixels.tightBytes == pixels.tightBytes)
        }
    }

    @Test func `premultiplied color and gray with alpha are converted in each pass`() throws {
        let size = PixelSize(width: 21, height: 13)
        let straight = try makePixels(size, .rgba8, .straight)
        let premultiplied = straight.converted(to: .premultiplied)
        let expected = try PNGEncoder().encode(DecodedImage(pixels: premultiplied))
        let data = try encoder.encode(DecodedImage(pixels: premultiplied))
        let options = DecodingOptions()
        let back = try PNGDecoder().decode(data, options: options).pixels
        #expect(try back == PNGDecoder().decode(expected, options: options).pixels)

        var gray = straight
        gray.withUnsafeMutableBytes { memory in
            for pixel in stride(from: 0, to: memory.count, by: 4) {
                (memory[pixel + 1], memory[pixel + 2]) = (memory[pixel], memory[pixel])
            }
        }
        let file = try PNGEncoder(usesPaletteWhenLossless: false, isInterlaced: true).encode(DecodedImage(pixels: gray))
        #expect(Array(file.prefix(26).suffix(2)) == [8, 4])
        #expect(try PNGDecoder().decode(file, options: options).pixels.tightBytes == gray.tightBytes)
    }

    /// Rows that exceed the limit are compressed with zlib. The limit is too large for a test of the encoder, so this
    /// one sets it.
    @Test func `libpng writes the passes of an image beyond the limit of libdeflate`() throws {
        let pixels = try makePixels(PixelSize(width: 37, height: 23), .rgba8, .straight)
        let header = DecodedImage(pixels: pixels).rowHeader
        for limit in [0, 1 << 20] {
            let writer = try AlcedoPNG.PNGWriter(
                encoder.settings(header, limit), colorProfile: nil, metadata: ImageMetadata(), orientation: .up)
            #expect(writer.passCount == 7)
            try writer.write(pixels, in: PixelRect(x: 0, y: 0, width: 37, height: 23))
            try writer.finish()
            let data = writer.data()
            #expect(isInterlaced(data))
            #expect(try PNGDecoder().decode(data, options: DecodingOptions()).pixels == pixels)
        }
    }

    @Test func `a row encoder writes the same file`() throws {
        let image = DecodedImage(pixels: try makePixels(PixelSize(width: 37, height: 23), .rgba8, .straight))
        var file = Data()
        let rows = encoder.makeRowEncoder { part in part.withUnsafeBytes { file.append(contentsOf: $0) } }
        try image.sendRows(to: rows)

        #expect(try file == encoder.encode(image))
        #expect(rows.byteCount(for: image.rowHeader) >= image.pixels.byteCount)
    }
}
