import TestSupport
import AlcedoCore
import AlcedoJPEG
import AlcedoPNG
import Foundation
import Testing

/// A fixture and its contents.
struct PNGCase: Sendable, CustomTestStringConvertible {
    var name: String
    var depth = 8
    var hasAlpha = false
    var pixel: @Sendable (_ x: Int, _ y: Int) -> [Int]

    var testDescription: String { name }

    var colorModel: ColorModel {
        if name == "gray-alpha.png" { return .grayAlpha }
        let models: [(String, ColorModel)] = [
            ("gray", .gray), ("palette", .palette), ("rgba", .rgba), ("rgb", .rgb),
        ]
        return models.first { name.hasPrefix($0.0) }?.1 ?? .cmyk
    }

    var isGray: Bool { colorModel == .gray && !hasAlpha }

    static let all: [PNGCase] =
        [1, 2, 4].map { bits in PNGCase(name: "gray\(bits).png", depth: bits) { Samples.gray($0, $1, bits: bits) } }
        + [1, 2, 4, 8].map { bits in
            PNGCase(name: "palette\(bits).png", depth: bits) { Samples.palette($0, $1, bits: bits) }
        } + [
            PNGCase(name: "gray8.png") { Samples.gray(19 * $0 + $1) },
            PNGCase(name: "gray16.png", depth: 16) { Samples.gray(Samples.wide($0, $1)[0]) },
            PNGCase(name: "gray-alpha.png", hasAlpha: true) {
                Samples.gray(19 * $0 + $1, alpha: Samples.rgba($0, $1)[3])
            },
            PNGCase(name: "rgb.png", pixel: Samples.rgb),
            PNGCase(name: "rgba.png", hasAlpha: true, pixel: Samples.rgba),
            PNGCase(name: "rgb16.png", depth: 16) { Samples.wide($0, $1)[..<3] + [255] },
            PNGCase(name: "rgba16.png", depth: 16, hasAlpha: true, pixel: Samples.wide),
            PNGCase(name: "palette-alpha.png", depth: 4, hasAlpha: true, pixel: Samples.paletteWithAlpha),
            PNGCase(name: "gray-transparent.png", hasAlpha: true, pixel: Samples.grayWithTransparent),
            PNGCase(name: "rgb-transparent.png", hasAlpha: true, pixel: Samples.rgbWithTransparent),
            PNGCase(name: "rgba-interlaced.png", hasAlpha: true, pixel: Samples.rgba),
            PNGCase(name: "gray1-interlaced.png", depth: 1) { Samples.gray($0, $1, bits: 1) },
            PNGCase(name: "palette4-interlaced.png", depth: 4) { Samples.palette($0, $1, bits: 4) },
            PNGCase(name: "rgb16-interlaced.png", depth: 16) { Samples.wide($0, $1)[..<3] + [255] },
        ]
}

@Suite struct PNGDecoderTests {
    private let decoder = PNGDecoder()

    @Test(arguments: PNGCase.all) func `decoded pixels equal the encoded ones`(item: PNGCase) throws {
        let image = try decoder.decode(fixture(item.name), options: DecodingOptions())

        #expect(image.pixels.tightBytes == Samples.rows(item.pixel))
        #expect(image.size == Samples.size)
        #expect(image.pixels.format == .rgba8)
        #expect(image.pixels.alphaMode == (item.hasAlpha ? .straight : .opaque))
        #expect(image.format == .png)
        #expect(image.colorProfile == nil)
    }

    @Test(arguments: PNGCase.all) func `a file is parsed once for all that a load asks`(item: PNGCase) throws {
        #expect(try decoder.parseCounts(fixture(item.name)) == [1, 1])
    }

    @Test(arguments: PNGCase.all) func `inspection matches decoding`(item: PNGCase) throws {
        let info = try decoder.inspect(fixture(item.name), limits: DecodingLimits())

        #expect(
            info
                == ImageInfo(
                    format: .png, size: Samples.size, hasAlpha: item.hasAlpha, bitDepth: item.depth,
                    colorModel: item.colorModel))
    }

    @Test(arguments: PNGCase.all) func `premultiplied color is the straight color times alpha`(item: PNGCase) throws {
        let pixels = try decoder.decode(fixture(item.name), options: DecodingOptions(alphaMode: .premultiplied)).pixels

        let expected = Samples.rows { x, y in
            let pixel = item.pixel(x, y)
            return pixel[..<3].map { Int((Double($0 * pixel[3]) / 255).rounded()) } + [pixel[3]]
        }
        #expect(pixels.tightBytes == expected)
        #expect(pixels.alphaMode == (item.hasAlpha ? .premultiplied : .opaque))
    }

    @Test func `inspection needs no pixel data`() throws {
        let data = PNGWriter.file([PNGWriter.header(width: 3, height: 2), PNGWriter.chunk("IDAT", [])])

        #expect(try decoder.inspect(data, limits: DecodingLimits()).size == PixelSize(width: 3, height: 2))
        #expect(errorCode(data) == .truncated)
    }

    @Test func `a decoder for a slice of other data is found in the registry`() throws {
        let file = try fixture("rgba.png")
        let slice = (Data([1, 2, 3]) + file + Data([4])).dropFirst(3)

        let image = try CodecRegistry([.jpeg, .png]).decode(slice)

        #expect(image.pixels.tightBytes == Samples.rows(Samples.rgba))
    }

    @Test(arguments: PNGCase.all) func `gray is decoded as gray on request`(item: PNGCase) throws {
        let pixels = try decoder.decode(fixture(item.name), options: DecodingOptions(pixelFormat: .gray8)).pixels

        #expect(pixels.format == (item.isGray ? .gray8 : .rgba8))
        let expected = Samples.rows(item.pixel)
        #expect(
            pixels.tightBytes
                == (item.isGray ? stride(from: 0, to: expected.count, by: 4).map { expected[$0] } : expected))
    }

    @Test(arguments: PNGCase.all) func `sixteen bits are decoded in full on request`(item: PNGCase) throws {
        let pixels = try decoder.decode(fixture(item.name), options: DecodingOptions(pixelFormat: .rgba16)).pixels

        #expect(pixels.format == (item.depth == 16 ? .rgba16 : .rgba8))
        guard item.depth == 16 else { return }
        let samples = pixels.tightBytes.withUnsafeBytes { Array($0.bindMemory(to: UInt16.self)) }
        #expect(samples.map { UInt8($0 >> 8) } == Samples.rows(item.pixel))
        let last = Samples.size.width * Samples.size.height - 1
        #expect(Int(samples[4 * last]) == 4999 * 12 + 37 * 8)
    }

    @Test func `sixteen bits are premultiplied and rounded to nearest`() throws {
        let file = try fixture("rgba16.png")
        func samples(_ mode: AlphaMode) throws -> [UInt16] {
            try decoder.decode(file, options: DecodingOptions(alphaMode: mode, pixelFormat: .rgba16))
                .pixels.tightBytes.withUnsafeBytes { Array($0.bindMemory(to: UInt16.self)) }
        }

        let straight = try samples(.straight)

        let expected = straight.indices.map { index in
            let alpha = Double(straight[index / 4 * 4 + 3])
            return index % 4 == 3 ? straight[index] : UInt16((Double(straight[index]) * alpha / 65_535).rounded())
        }
        #expect(try samples(.premultiplied) == expected)
    }

    @Test(arguments: ["rgba.png", "rgba-interlaced.png", "gray1.png", "exif.png"])
    func `a target averages square blocks`(name: String) throws {
        let target = TargetSize(width: 4, height: 4)
        let whole = try decoder.decode(fixture(name), options: DecodingOptions())

        let small = try decoder.decode(fixture(name), options: DecodingOptions(target: target))

        let reduction = BoxReduction(from: Samples.size, towards: target)
        #expect(reduction.factor == 3)
        let expected = reduction.size(of: Samples.size)
        #expect(small.size == (name == "exif.png" ? expected.transposed : expected))
        #expect(small.pixels.alphaMode == whole.pixels.alphaMode)
        if name != "exif.png" { #expect(try small.pixels == whole.pixels.reduced(by: reduction)) }
    }
}
