import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Watermarks of conversions, and their pixels.
@Suite(.timeLimit(.minutes(5)))
struct OverlayConversionTests {
    private typealias Variant = ImageConverter.Variant

    private let image = DecodedImage.coordinates(PixelSize(width: 120, height: 80))
    private let logo = DecodedImage.coordinates(PixelSize(width: 30, height: 10))

    private func decode(_ data: Data) throws -> PixelBuffer { try CodecRegistry.standard.decode(data).pixels }

    /// Returns the pixels as a PNG file holds them.
    private func stored(_ image: DecodedImage) throws -> PixelBuffer { try decode(ImageEncoder.png().encode(image)) }

    @Test func `each variant has the watermark in its own size`() async throws {
        let converter = ImageConverter()
        let pixels = try converter.pixels(of: ImageEncoder.png().encode(logo))
        let mark: any ImageProcessing = .overlay(
            pixels, at: .bottomRight, x: -2, y: -3, scale: .share(0.25), mode: .multiply, opacity: 0.8)
        let widths = [120, 60, 30]

        let images = try await converter.convert(
            ImageEncoder.png().encode(image),
            to: widths.map { Variant(.png(), processors: [.resize(width: $0), mark]) })

        for (width, variant) in zip(widths, images.variants) {
            let resize: any ImageProcessing = .resize(width: width)
            let expected = try mark.process(resize.process(image))
            #expect(try decode(variant.data) == stored(expected))
            #expect(try decode(variant.data) != stored(resize.process(image)))
        }
    }

    @Test func `every frame of an animation has the watermark`() async throws {
        let size = PixelSize(width: 40, height: 40)
        let levels: [UInt8] = [0, 100, 200]
        let pixels = levels.map { DecodedImage.gray(side: 40, level: $0).pixels }
        var animation = DecodedImage(pixels: pixels[0])
        animation.frames = MadeFrames(size, pixels.map { ($0, .seconds(1)) })
        let mark: any ImageProcessing = .overlay(logo.pixels, isTiled: true, opacity: 0.5)

        let file = try ImageEncoder.gif().encode(animation)
        let originals = try #require(try CodecRegistry.standard.decode(file).frames)

        let images = try await ImageConverter().convert(file, to: [Variant(mark, .webp(lossless: true))])

        let frames = try #require(try CodecRegistry.standard.decode(images.variants[0].data).frames)
        #expect(frames.frameCount == 3)
        for index in 0..<3 {
            let expected = try mark.process(DecodedImage(pixels: originals.frame(at: index))).pixels
            let found = try frames.frame(at: index)
            #expect(found.straightRGBA(rowCount: found.height) == expected.straightRGBA(rowCount: expected.height))
        }
    }

    @Test(arguments: [OutputColorSpace.sRGB, .displayP3])
    func `the pixels of a watermark are in the color space of the results, and upright`(
        space: OutputColorSpace
    ) throws {
        let converter = ImageConverter(colorSpace: space)
        for profile in [nil, OutputColorSpace.displayP3.colorProfile] {
            var turned = logo
            turned.orientation = .right
            turned.colorProfile = profile
            let file = try ImageEncoder.png().encode(turned)

            let pixels = try converter.pixels(of: file)

            #expect(pixels.size == PixelSize(width: 10, height: 30))
            #expect(try stored(DecodedImage(pixels: pixels)) == decode(converter.convert(file, to: .png())))
        }
    }

    @Test func `16-bit samples of a watermark are kept`() throws {
        let deep = try #require(
            PixelBuffer(size: PixelSize(width: 1, height: 1), format: .rgba16, alphaMode: .opaque) { memory, _ in
                for index in 0..<4 {
                    memory.storeBytes(of: index == 3 ? .max : 257 * 90 + 1, toByteOffset: 2 * index, as: UInt16.self)
                }
            })

        let pixels = try ImageConverter().pixels(of: ImageEncoder.png().encode(DecodedImage(pixels: deep)))

        #expect(pixels.format.isDeep)
        #expect(pixels.row(0).unsafeLoadUnaligned(as: UInt16.self) == 257 * 90 + 1)
    }

    @Test func `limits and codecs of the converter apply to a watermark`() throws {
        let file = try ImageEncoder.png().encode(logo)

        #expect { try ImageConverter(limits: DecodingLimits(maximumPixelCount: 299)).pixels(of: file) } throws: {
            ($0 as? ImageDecodingError)?.code == .exceedsLimit
        }
        #expect { try ImageConverter(codecs: CodecRegistry([.gif])).pixels(of: file) } throws: {
            ($0 as? ImageDecodingError)?.code == .unknownFormat
        }
        #expect(throws: ImageDecodingError.self) { try ImageConverter().pixels(of: file.prefix(file.count / 2)) }
    }
}
