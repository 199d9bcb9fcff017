import TestSupport
import AlcedoCore
import AlcedoPNG
import Foundation
import Testing

@Suite struct PNGEncoderTests {
    private let encoder = PNGEncoder()
    private let size = PixelSize(width: 5, height: 4)

    /// Returns an image in which neighboring bytes differ.
    private func makePixels(_ format: PixelFormat, _ alphaMode: AlphaMode, padding: UInt8 = 0) throws -> PixelBuffer {
        let used = size.width * format.bytesPerPixel
        let pixels = PixelBuffer(size: size, format: format, alphaMode: alphaMode)
        var buffer = try #require(pixels)
        buffer.withUnsafeMutableBytes { memory in
            let stride = memory.count / size.height
            for index in memory.indices {
                let isPadding = index % stride >= used
                let isSolid = alphaMode == .opaque && format.bytesPerPixel == 4 && index % 4 == 3
                memory[index] = isPadding ? padding : isSolid ? 255 : UInt8(index * 7 % 256)
            }
        }
        return buffer
    }

    private func roundTrip(_ image: DecodedImage) throws -> DecodedImage {
        try PNGDecoder().decode(encoder.encode(image), options: DecodingOptions())
    }

    /// Returns bit depth and color type of the file.
    private func kind(_ data: Data) -> [UInt8] { Array(data.prefix(26).suffix(2)) }

    @Test func `straight alpha is encoded exactly`() throws {
        let pixels = try makePixels(.rgba8, .straight)

        #expect(try roundTrip(DecodedImage(pixels: pixels)).pixels == pixels)
        #expect(try kind(encoder.encode(DecodedImage(pixels: pixels))) == [8, 6])
    }

    @Test func `an opaque image is encoded without alpha`() throws {
        let pixels = try makePixels(.rgba8, .opaque)

        #expect(try roundTrip(DecodedImage(pixels: pixels)).pixels == pixels)
        #expect(try kind(encoder.encode(DecodedImage(pixels: pixels))) == [8, 2])
    }

    @Test func `gray is encoded as gray`() throws {
        let pixels = try makePixels(.gray8, .opaque)

        let back = try roundTrip(DecodedImage(pixels: pixels)).pixels

        #expect(back.tightBytes == pixels.tightBytes.flatMap { [$0, $0, $0, 255] })
        #expect(try kind(encoder.encode(DecodedImage(pixels: pixels))) == [8, 0])
    }

    @Test func `16-bit gray is encoded and decoded as 16-bit gray`() throws {
        let pixels = try makePixels(.gray16, .opaque)
        let data = try encoder.encode(DecodedImage(pixels: pixels))

        #expect(kind(data) == [16, 0])
        let decoder = PNGDecoder()
        #expect(try decoder.inspect(data, limits: DecodingLimits()).exactFormat == .gray16)
        #expect(try decoder.decode(data, options: DecodingOptions(pixelFormat: .gray16)).pixels == pixels)
        let deep = try decoder.decode(data, options: DecodingOptions(pixelFormat: .rgba16)).pixels
        let shallow = try decoder.decode(data, options: DecodingOptions(pixelFormat: .gray8)).pixels
        #expect(deep.format == .rgba16)
        #expect(shallow.format == .gray8)
        var bytes = Data()
        let rows = encoder.makeRowEncoder { part in part.withUnsafeBytes { bytes.append(contentsOf: $0) } }
        try DecodedImage(pixels: pixels).sendRows(to: rows)
        #expect(try decoder.decode(bytes, options: DecodingOptions(pixelFormat: .gray16)).pixels == pixels)
    }

    /// Encodes an image as a whole and by rows.
    private func bothWays(_ image: DecodedImage) throws -> [Data] {
        var bytes = Data()
        let rows = encoder.makeRowEncoder { part in part.withUnsafeBytes { bytes.append(contentsOf: $0) } }
        try image.sendRows(to: rows)
        return [try encoder.encode(image), bytes]
    }

    @Test func `an image from a palette keeps one even if it becomes larger`() throws {
        var image = DecodedImage(pixels: try makePixels(.rgba8, .opaque))
        #expect(try bothWays(image).map(kind) == [[8, 2], [8, 2]])
        image.storedModel = .palette
        for data in try bothWays(image) {
            #expect(kind(data) == [8, 3])
            #expect(try PNGDecoder().decode(data, options: DecodingOptions()).pixels == image.pixels)
        }
    }

    @Test func `an image from a palette that has too many colors is encoded with samples`() throws {
        let size = PixelSize(width: 20, height: 20)
        let pixels = try #require(
            PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) { memory, bytesPerRow in
                for y in 0..<20 {
                    for x in 0..<20 {
                        let index = 20 * y + x
                        let pixel: [UInt8] = [UInt8(index & 255), UInt8(index >> 8), 7, 200]
                        for channel in 0..<4 { memory[y * bytesPerRow + 4 * x + channel] = pixel[channel] }
                    }
                }
            })
        var image = DecodedImage(pixels: pixels)
        image.storedModel = .palette
        for data in try bothWays(image) {
            #expect(kind(data) == [8, 6])
            #expect(try PNGDecoder().decode(data, options: DecodingOptions()).pixels == pixels)
        }
    }

    /// Returns straight pixels of gray with alpha.
    private func makeGrayAlphaPixels(_ format: PixelFormat) throws -> PixelBuffer {
        let deep = format == .rgba16
        return try #require(
            PixelBuffer(size: size, format: format, alphaMode: .straight) { memory, bytesPerRow in
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        let (gray, alpha) = (UInt16(1000 * x + 37 * y), UInt16(65_535 - 3000 * x))
                        for channel in 0..<4 {
                            let sample = channel == 3 ? alpha : gray
                            let offset = y * bytesPerRow + x * format.bytesPerPixel + channel * (deep ? 2 : 1)
                            if deep {
                                memory.storeBytes(of: sample, toByteOffset: offset, as: UInt16.self)
                            } else {
                                memory[offset] = UInt8(sample >> 8)
                            }
                        }
                    }
                }
            })
    }

    @Test(arguments: [PixelFormat.rgba8, .rgba16], [AlphaMode.straight, .premultiplied])
    func `gray with alpha keeps two samples`(format: PixelFormat, mode: AlphaMode) throws {
        var image = DecodedImage(pixels: try makeGrayAlphaPixels(format).converted(to: mode))
        image.storedModel = .grayAlpha
        let options = DecodingOptions(pixelFormat: format)
        for data in try bothWays(image) {
            #expect(kind(data) == [format.isDeep ? 16 : 8, 4])
            #expect(try PNGDecoder().decode(data, options: options).pixels == image.pixels.converted(to: .straight))
        }
    }

    @Test(arguments: [PixelFormat.rgba8, .rgba16])
    func `an image whose pixels are all gray is encoded as gray with alpha`(format: PixelFormat) throws {
        var pixels = try makeGrayAlphaPixels(format)
        let encoder = PNGEncoder(usesPaletteWhenLossless: false)
        #expect(try kind(encoder.encode(DecodedImage(pixels: pixels))) == [format.isDeep ? 16 : 8, 4])

        // One color in the last row is enough, whatever the file was.
        pixels.withUnsafeMutableBytes { memory in
            let pixel = memory.count / size.height * (size.height - 1) + (size.width - 1) * format.bytesPerPixel
            memory[pixel] ^= 1
        }
        var image = DecodedImage(pixels: pixels)
        image.storedModel = .grayAlpha
        let data = try encoder.encode(image)

        #expect(kind(data) == [format.isDeep ? 16 : 8, 6])
        #expect(try PNGDecoder().decode(data, options: DecodingOptions(pixelFormat: format)).pixels == pixels)
    }

    @Test func `RGBX is encoded as RGB`() throws {
        let pixels = try makePixels(.rgbx8, .opaque)

        #expect(try roundTrip(DecodedImage(pixels: pixels)).pixels.tightBytes == pixels.tightBytes)
        #expect(try kind(encoder.encode(DecodedImage(pixels: pixels))) == [8, 2])
    }

    @Test func `premultiplied color is divided by alpha`() throws {
        let pixels = try makePixels(.rgba8, .straight)

        let back = try roundTrip(DecodedImage(pixels: pixels.converted(to: .premultiplied))).pixels

        #expect(back == pixels.converted(to: .premultiplied).converted(to: .straight))
        for pixel in 0..<20 where pixels.tightBytes[4 * pixel + 3] > 127 {
            // Above half opacity, rounding costs at most one level.
            for channel in 4 * pixel..<4 * pixel + 4 {
                #expect(abs(Int(back.tightBytes[channel]) - Int(pixels.tightBytes[channel])) <= 1)
            }
        }
    }

    @Test(arguments: [AlphaMode.straight, .opaque]) func `sixteen bits are encoded in full`(mode: AlphaMode) throws {
        var pixels = try makePixels(.rgba16, mode)
        if mode == .opaque {
            pixels.withUnsafeMutableBytes { memory in
                for index in stride(from: 6, to: memory.count, by: 8) where index % 64 < 40 {
                    memory[index] = 255
                    memory[index + 1] = 255
                }
            }
        }

        let file = try encoder.encode(DecodedImage(pixels: pixels))
        let back = try PNGDecoder().decode(file, options: DecodingOptions(pixelFormat: .rgba16)).pixels

        #expect(back == pixels)
        #expect(kind(file) == [16, mode == .opaque ? 2 : 6])
    }

    @Test func `premultiplied sixteen bits are divided by alpha`() throws {
        let pixels = try makePixels(.rgba16, .premultiplied)

        let file = try encoder.encode(DecodedImage(pixels: pixels))
        let back = try PNGDecoder().decode(file, options: DecodingOptions(pixelFormat: .rgba16)).pixels

        func samples(_ pixels: PixelBuffer) -> [Double] {
            pixels.tightBytes.withUnsafeBytes { $0.bindMemory(to: UInt16.self).map(Double.init) }
        }
        let (before, after) = (samples(pixels), samples(back))
        for index in before.indices {
            let alpha = before[index / 4 * 4 + 3]
            let straight = alpha == 0 ? 0 : min(65_535, (before[index] * 65_535 / alpha).rounded())
            #expect(after[index] == (index % 4 == 3 ? alpha : straight))
        }
    }

    @Test(arguments: [(PixelFormat.rgba8, AlphaMode.straight), (.rgba8, .opaque), (.rgbx8, .opaque), (.gray8, .opaque)])
    func `row padding is not written`(format: PixelFormat, mode: AlphaMode) throws {
        let clean = try PNGEncoder(compressionLevel: 0).encode(DecodedImage(pixels: makePixels(format, mode)))
        let dirty = try PNGEncoder(compressionLevel: 0).encode(
            DecodedImage(pixels: makePixels(format, mode, padding: 0xEE)))

        #expect(clean == dirty)
    }

    @Test func `levels change the size and not the image`() throws {
        let large = PixelBuffer(size: PixelSize(width: 200, height: 200), format: .rgba8, alphaMode: .straight)
        let image = DecodedImage(pixels: try #require(large))

        let files = try [-5, 0, 1, 12, 99].map {
            try PNGEncoder(compressionLevel: $0, usesPaletteWhenLossless: false).encode(image)
        }

        #expect(files[0] == files[1])
        #expect(files[3] == files[4])
        // Two samples per pixel, because every pixel is gray.
        #expect(files[1].count > 80_000)
        #expect(files[2].count < 2_000)
        #expect(files[3].count <= files[2].count)
        for file in files {
            #expect(try PNGDecoder().decode(file, options: DecodingOptions()).pixels == image.pixels)
        }
    }

    @Test func `a color profile is written`() throws {
        let profile = try fixture("profile.icc")

        let back = try roundTrip(DecodedImage(pixels: makePixels(.rgba8, .straight), colorProfile: profile))

        #expect(back.colorProfile == profile)
    }

    @Test func `an invalid profile or one of another color model is omitted`() throws {
        let rgb = try fixture("profile.icc")
        var gray = rgb
        gray.replaceSubrange(16..<20, with: Array("GRAY".utf8))

        for profile in [Data(), Data("not a profile".utf8), rgb.prefix(200), gray] {
            let back = try roundTrip(DecodedImage(pixels: makePixels(.rgba8, .straight), colorProfile: profile))
            #expect(back.colorProfile == nil)
        }
        #expect(try roundTrip(DecodedImage(pixels: makePixels(.gray8, .opaque), colorProfile: rgb)).colorProfile == nil)
    }

    @Test(arguments: ImageOrientation.allCases)
    func `an orientation is written and the pixels stay`(orientation: ImageOrientation) throws {
        let pixels = try makePixels(.rgba8, .straight)
        let file = try encoder.encode(DecodedImage(pixels: pixels, orientation: orientation))

        let stored = try PNGDecoder().decode(file, options: DecodingOptions(appliesOrientation: false))
        let upright = try PNGDecoder().decode(file, options: DecodingOptions())

        #expect(stored.pixels == pixels)
        #expect(stored.orientation == orientation)
        #expect(try upright.pixels == pixels.upright(from: orientation))
    }

    @Test(arguments: [(1, 1), (2, 1), (3, 2), (4, 2), (5, 4), (16, 4), (17, 8), (256, 8), (257, 0)])
    func `few colors become a palette of the fewest possible bits`(colors: Int, bits: Int) throws {
        let size = PixelSize(width: 61, height: 43)
        let empty = PixelBuffer(size: size, format: .rgba8, alphaMode: .straight)
        var pixels = try #require(empty)
        pixels.withUnsafeMutableBytes { memory in
            let stride = memory.count / size.height
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let color = (y * size.width + x) % colors
                    let samples = [color % 256, color / 256, 7, color % 3 == 0 ? 255 : color % 256]
                    for channel in 0..<4 { memory[y * stride + 4 * x + channel] = UInt8(samples[channel]) }
                }
            }
        }
        let image = DecodedImage(pixels: pixels)

        let file = try encoder.encode(image)

        #expect(kind(file) == (bits == 0 ? [8, 6] : [UInt8(bits), 3]))
        #expect(try PNGDecoder().decode(file, options: DecodingOptions()).pixels.tightBytes == pixels.tightBytes)
        #expect(kind(try PNGEncoder(usesPaletteWhenLossless: false).encode(image)) == [8, 6])
    }

    @Test(arguments: [
        (PixelFormat.rgba8, AlphaMode.straight), (.rgba8, .premultiplied), (.rgba8, .opaque), (.rgbx8, .opaque),
        (.gray8, .opaque), (.rgba16, .straight), (.rgba16, .premultiplied),
    ])
    func `row encoding writes the same file`(format: PixelFormat, mode: AlphaMode) throws {
        let image = DecodedImage(
            pixels: try makePixels(format, mode), colorProfile: try fixture("profile.icc"), orientation: .right)
        let plain = PNGEncoder(usesPaletteWhenLossless: false)
        var file = Data()

        try image.sendRows(to: plain.makeRowEncoder { bytes in bytes.withUnsafeBytes { file.append(contentsOf: $0) } })

        #expect(try file == plain.encode(image))
    }

    @Test func `a row encoder outputs a large image while its rows arrive, and a small one at the end`() throws {
        for (height, isSmall) in [(10, true), (1_500, false)] {
            let size = PixelSize(width: 1_000, height: height)
            let header = PixelRowHeader(size: size, format: .rgbx8, alphaMode: .opaque)
            var file = Data()
            let rows = encoder.makeRowEncoder { bytes in bytes.withUnsafeBytes { file.append(contentsOf: $0) } }
            try rows.begin(header)
            let begin = file.count
            var row = [UInt8](repeating: 255, count: header.bytesPerRow)
            var state: UInt32 = 1
            for _ in 0..<height {
                for index in row.indices where index % 4 != 3 {
                    state = state &* 1_664_525 &+ 1_013_904_223
                    row[index] = UInt8(truncatingIfNeeded: state >> 24)
                }
                try row.withUnsafeBytes { try rows.consume($0.bytes) }
            }
            #expect((file.count == begin) == isSmall)

            try rows.finish()

            let back = try PNGDecoder().decode(file, options: DecodingOptions()).pixels
            #expect(back.size == size)
            let last = back.row(height - 1).withUnsafeBytes { Array($0.prefix(row.count)) }
            #expect(last == row)
        }
    }

    @Test func `fewer or more rows than the header says are an error`() throws {
        let header = PixelRowHeader(size: PixelSize(width: 3, height: 2), format: .gray8, alphaMode: .opaque)
        let row: [UInt8] = [1, 2, 3]
        func encode(_ count: Int) throws {
            let rows = encoder.makeRowEncoder { _ in }
            try rows.begin(header)
            for _ in 0..<count { try row.withUnsafeBytes { try rows.consume($0.bytes) } }
            try rows.finish()
        }
        try encode(2)
        for count in [0, 1, 3] {
            #expect(throws: ImageEncodingError.self) { try encode(count) }
        }
    }

    @Test func `an error of the output ends the encoding`() throws {
        struct Full: Error {}
        let image = DecodedImage(pixels: try makePixels(.rgba8, .straight))

        #expect(throws: Full.self) { try image.sendRows(to: encoder.makeRowEncoder { _ in throw Full() }) }
    }

    @Test(arguments: [(PixelFormat.rgba8, AlphaMode.straight), (.rgba8, .premultiplied), (.rgba16, .premultiplied)])
    func `a row with fewer bytes than its header says is an error`(format: PixelFormat, mode: AlphaMode) throws {
        let rows = encoder.makeRowEncoder { _ in }
        let header = PixelRowHeader(size: size, format: format, alphaMode: mode)
        try rows.begin(header)
        let row = [UInt8](repeating: 0, count: header.bytesPerRow - 1)

        let error = #expect(throws: ImageEncodingError.self) { try row.withUnsafeBytes { try rows.consume($0.bytes) } }

        #expect(error?.code == .failed)
    }

    @Test func `an encoder reports its format`() {
        #expect(encoder.format == .png)
        #expect(encoder.compressionLevel == 6)
    }
}
