import TestSupport
import AlcedoCore
import AlcedoGIF
import AlcedoTesting
import Foundation
import Testing

@Suite struct GIFDecoderTests {
    private let decoder = GIFDecoder()

    @Test(arguments: [("plain.gif", "plain.rgba"), ("interlaced.gif", "plain.rgba"), ("animated.gif", "plain.rgba")])
    func `the first frame matches another decoder`(file: String, expected: String) throws {
        let image = try decoder.decode(fixture(file), options: DecodingOptions())

        #expect(image.pixels.tightBytes == Array(try fixture(expected)))
        #expect(image.size == PixelSize(width: 13, height: 19))
        #expect(image.pixels.alphaMode == (image.frames == nil ? .opaque : .straight))
        #expect(image.format == .gif)
    }

    @Test(arguments: ["plain.gif", "interlaced.gif", "animated.gif"])
    func `a file is parsed once for all that a load asks`(file: String) throws {
        #expect(try decoder.parseCounts(fixture(file)) == [1, 1])
    }

    @Test(arguments: [AlphaMode.straight, .premultiplied])
    func `a transparent color becomes transparent black in either alpha mode`(mode: AlphaMode) throws {
        let image = try decoder.decode(fixture("transparent.gif"), options: DecodingOptions(alphaMode: mode))

        #expect(image.pixels.tightBytes == clearingTransparent(try fixture("transparent.rgba")))
        #expect(image.pixels.rgba(3, 3) == [0, 0, 0, 0])
        #expect(image.pixels.alphaMode == mode)
    }

    @Test(arguments: [("plain.gif", 1, false), ("transparent.gif", 1, true), ("animated.gif", 3, true)])
    func `inspection returns size, frames, delays and alpha`(file: String, frames: Int, hasAlpha: Bool) throws {
        let info = try decoder.inspect(fixture(file), limits: DecodingLimits())

        #expect(info.size == PixelSize(width: 13, height: 19))
        #expect(info.colorModel == .palette)
        #expect(info.frameCount == frames)
        #expect(info.hasAlpha == hasAlpha)
        #expect(info.delays == (frames == 1 ? [] : [.milliseconds(50), .milliseconds(50), .milliseconds(50)]))
        #expect(info.loopCount == (frames == 1 ? nil : 3))
    }

    @Test(arguments: ["plain.gif", "interlaced.gif", "transparent.gif", "animated.gif"])
    func `rows and pieces give the same image`(file: String) throws {
        try DecoderChecks(decoder).checkRows(fixture(file))
        try DecoderChecks(decoder).checkPieces(fixture(file))
    }

    @Test func `both versions are recognized by content, and nothing else is`() throws {
        let registry = CodecRegistry([.gif])

        #expect(registry.entry(for: try fixture("plain.gif"))?.format == .gif)
        #expect(registry.entry(for: Data("GIF87a".utf8)) != nil)
        #expect(registry.entry(for: Data("GIF89a".utf8)) != nil)
        #expect(registry.entry(for: Data("GIF90a".utf8)) == nil)
        #expect(registry.entry(for: Data("GIF89".utf8)) == nil)
        #expect(registry.entry(for: Data()) == nil)
    }

    @Test func `a decoder for a slice of other data is found in the registry`() throws {
        let plain = try fixture("plain.gif")
        let slice = (Data([1, 2, 3]) + plain + Data([4])).dropFirst(3)

        let image = try CodecRegistry([.gif]).decode(slice)

        #expect(image.pixels == (try decoder.decode(plain, options: DecodingOptions()).pixels))
    }

    @Test(arguments: 1...11)
    func `codes of any initial bit count that the format allows are decoded`(codeSize: Int) throws {
        let clear = 1 << codeSize
        var bits: [Bool] = []
        for code in [clear, 1, clear, 0, clear, 1, clear, 0, clear + 1] {
            // With one bit the table outgrows its first size at the first index.
            let isLonger = codeSize == 1 && code >= clear && !bits.isEmpty
            let width = codeSize + (isLonger ? 2 : 1)
            bits += (0..<width).map { code >> $0 & 1 == 1 }
        }
        var bytes = [UInt8](repeating: 0, count: (bits.count + 7) / 8)
        for (place, bit) in bits.enumerated() where bit { bytes[place / 8] |= 1 << UInt8(place % 8) }
        let head: [UInt8] = [0x2C, 0, 0, 0, 0, 4, 0, 1, 0, 0, UInt8(codeSize)]
        let file = GIFWriter.file(
            width: 4, height: 1, palette: [(1, 1, 1), (2, 2, 2)], [head + GIFWriter.subBlocks(bytes)])

        let pixels = try decoder.decode(file, options: DecodingOptions()).pixels

        #expect((0..<4).map { pixels.rgba($0, 0)[0] } == [2, 1, 2, 1])
    }
}
