import TestSupport
import AlcedoCore
import AlcedoPNG
import Foundation
import Testing

@Suite struct PNGEncoderTests {
    private let encoder = PNGEncoder()
    private let size = PixelSize(width: 5, height: 4)

    /// A picture whose bytes all differ from their neighbours.
    private func picture(_ format: PixelFormat, _ alphaMode: AlphaMode, padding: UInt8 = 0) throws -> PixelBuffer {
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

    /// Bit depth and colour type of the file.
    private func kind(_ data: Data) -> [UInt8] { Array(data.prefix(26).suffix(2)) }

    @Test func `straight alpha comes back as it was`() throws {
        let pixels = try picture(.rgba8, .straight)

        #expect(try roundTrip(DecodedImage(pixels: pixels)).pixels == pixels)
        #expect(try kind(encoder.encode(DecodedImage(pixels: pixels))) == [8, 6])
    }

    @Test func `an opaque picture is written without alpha`() throws {
        let pixels = try picture(.rgba8, .opaque)

        #expect(try roundTrip(DecodedImage(pixels: pixels)).pixels == pixels)
        #expect(try kind(encoder.encode(DecodedImage(pixels: pixels))) == [8, 2])
    }

    @Test func `gray is written as gray`() throws {
        let pixels = try picture(.gray8, .opaque)

        let back = try roundTrip(DecodedImage(pixels: pixels)).pixels

        #expect(back.tightBytes == pixels.tightBytes.flatMap { [$0, $0, $0, 255] })
        #expect(try kind(encoder.encode(DecodedImage(pixels: pixels))) == [8, 0])
    }

    @Test func `RGBX is written as RGB`() throws {
        let pixels = try picture(.rgbx8, .opaque)

        #expect(try roundTrip(DecodedImage(pixels: pixels)).pixels.tightBytes == pixels.tightBytes)
        #expect(try kind(encoder.encode(DecodedImage(pixels: pixels))) == [8, 2])
    }

    @Test func `premultiplied colour is divided by alpha`() throws {
        let pixels = try picture(.rgba8, .straight)

        let back = try roundTrip(DecodedImage(pixels: pixels.premultiplied())).pixels

        #expect(back == pixels.premultiplied().unpremultiplied())
        for pixel in 0..<20 where pixels.tightBytes[4 * pixel + 3] > 127 {
            // Above half opacity, rounding costs at most one level.
            for channel in 4 * pixel..<4 * pixel + 4 {
                #expect(abs(Int(back.tightBytes[channel]) - Int(pixels.tightBytes[channel])) <= 1)
            }
        }
    }

    @Test func `sixteen bits are refused`() throws {
        let pixels = try picture(.rgba16, .straight)

        #expect(throws: ImageEncodingError(.unsupportedImage, "PNG: rgba16 pixels are not encoded")) {
            try encoder.encode(DecodedImage(pixels: pixels))
        }
    }

    @Test(arguments: [(PixelFormat.rgba8, AlphaMode.straight), (.rgba8, .opaque), (.rgbx8, .opaque), (.gray8, .opaque)])
    func `the padding of rows does not leave the process`(format: PixelFormat, mode: AlphaMode) throws {
        let clean = try PNGEncoder(compressionLevel: 0).encode(DecodedImage(pixels: picture(format, mode)))
        let dirty = try PNGEncoder(compressionLevel: 0).encode(
            DecodedImage(pixels: picture(format, mode, padding: 0xEE)))

        #expect(clean == dirty)
    }

    @Test func `levels change the size and not the picture`() throws {
        let large = PixelBuffer(size: PixelSize(width: 200, height: 200), format: .rgba8, alphaMode: .straight)
        let image = DecodedImage(pixels: try #require(large))

        let files = try [-5, 0, 1, 9, 99].map { try PNGEncoder(compressionLevel: $0).encode(image) }

        #expect(files[0] == files[1])
        #expect(files[3] == files[4])
        #expect(files[1].count > 160_000)
        #expect(files[2].count < 2_000)
        #expect(files[3].count <= files[2].count)
        for file in files {
            #expect(try PNGDecoder().decode(file, options: DecodingOptions()).pixels == image.pixels)
        }
    }

    @Test func `a profile is written`() throws {
        let profile = try fixture("profile.icc")

        let back = try roundTrip(DecodedImage(pixels: picture(.rgba8, .straight), colorProfile: profile))

        #expect(back.colorProfile == profile)
    }

    @Test func `a profile that is none, or is for other colours, is left out`() throws {
        let rgb = try fixture("profile.icc")
        var gray = rgb
        gray.replaceSubrange(16..<20, with: Array("GRAY".utf8))

        for profile in [Data(), Data("not a profile".utf8), rgb.prefix(200), gray] {
            let back = try roundTrip(DecodedImage(pixels: picture(.rgba8, .straight), colorProfile: profile))
            #expect(back.colorProfile == nil)
        }
        #expect(try roundTrip(DecodedImage(pixels: picture(.gray8, .opaque), colorProfile: rgb)).colorProfile == nil)
    }

    @Test(arguments: ImageOrientation.allCases)
    func `a picture is written upright`(orientation: ImageOrientation) throws {
        let pixels = try picture(.rgba8, .straight)

        let back = try roundTrip(DecodedImage(pixels: pixels, orientation: orientation))

        #expect(back.pixels == pixels.upright(from: orientation))
        #expect(back.orientation == .up)
    }

    @Test func `an encoder has its format`() {
        #expect(encoder.format == .png)
        #expect(encoder.compressionLevel == 6)
    }
}
