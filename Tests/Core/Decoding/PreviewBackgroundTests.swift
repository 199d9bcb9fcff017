import AlcedoCore
import AlcedoTesting
import TestSupport
import Testing

@Suite struct PreviewBackgroundTests {
    private func size(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }

    @Test func `a thumbnail of the same aspect ratio is used, within one of its pixels`() {
        for (thumbnail, image) in [
            ((160, 120), (4000, 3000)), ((160, 107), (6000, 4000)), ((160, 106), (6000, 4000)),
            ((90, 160), (1080, 1920)), ((160, 1), (65_500, 10)), ((3, 2), (3, 2)),
        ] {
            #expect(PreviewBackground.isUsable(size(thumbnail.0, thumbnail.1), for: size(image.0, image.1)))
        }
        for (thumbnail, image) in [
            ((160, 120), (6000, 4000)), ((160, 120), (3000, 4000)), ((160, 105), (6000, 4000)),
            ((160, 120), (159, 119)),
            ((1025, 1025), (4000, 4000)), ((0, 0), (40, 30)), ((160, 120), (0, 0)), ((16, 12), (Int.max, Int.max)),
        ] {
            #expect(!PreviewBackground.isUsable(size(thumbnail.0, thumbnail.1), for: size(image.0, image.1)))
        }
    }

    @Test(arguments: [(64, 48), (65, 49), (16, 12), (17, 100)])
    func `a thumbnail is enlarged by linear interpolation`(width: Int, height: Int) throws {
        let thumbnail = DecodedImage.coordinates(size(16, 12)).pixels
        var pixels = try #require(PixelBuffer(size: size(width, height), format: .rgba8, alphaMode: .opaque))

        #expect(try #require(PreviewBackground(thumbnail)).fill(&pixels, from: 0))

        for y in 0..<height {
            for x in 0..<width {
                let red = (Double(x) + 0.5) * 16 / Double(width) - 0.5
                let green = (Double(y) + 0.5) * 12 / Double(height) - 0.5
                let color = pixels.rgba(x, y)
                #expect(abs(Double(color[0]) - min(max(red, 0), 15)) <= 1)
                #expect(abs(Double(color[1]) - min(max(green, 0), 11)) <= 1)
                #expect(color[2...] == [128, 255])
            }
        }
    }

    @Test func `rows before the first one are kept, and no row is changed in another format`() throws {
        let white = DecodedImage.gray(side: 8, level: 255).pixels
        let background = try #require(PreviewBackground(DecodedImage.gray(side: 4, level: 7).pixels))
        var (part, none, color) = (white, white, DecodedImage.coordinates(size(8, 8)).pixels)

        #expect(background.fill(&part, from: 3))
        #expect(background.fill(&none, from: 8))
        #expect(!background.fill(&color, from: 0))

        #expect(part.tightBytes == [UInt8](repeating: 255, count: 24) + [UInt8](repeating: 7, count: 40))
        #expect(none == white)
        #expect(color == DecodedImage.coordinates(size(8, 8)).pixels)
    }

    @Test func `a thumbnail with alpha or deep samples is not used`() throws {
        for (format, mode) in [(PixelFormat.rgba8, AlphaMode.straight), (.rgba16, .opaque), (.gray16, .opaque)] {
            let pixels = try #require(PixelBuffer(size: size(4, 4), format: format, alphaMode: mode))
            #expect(PreviewBackground(pixels) == nil)
        }
    }
}
