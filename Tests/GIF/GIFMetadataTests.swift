import AlcedoCore
import AlcedoGIF
import Foundation
import TestSupport
import Testing

@Suite struct GIFMetadataTests {
    private let decoder = GIFDecoder()
    private let pixel = GIFWriter.image(width: 1, height: 1, indices: [0])

    private func file(_ blocks: [[UInt8]]) -> Data {
        GIFWriter.file(width: 1, height: 1, palette: [(1, 2, 3)], blocks + [pixel])
    }

    @Test func `a color profile in several sub-blocks is joined`() throws {
        let profile = (0..<600).map { UInt8($0 % 251) }
        let data = file([GIFWriter.application("ICCRGBG1012", profile)])

        #expect(try decoder.inspect(data, limits: DecodingLimits()).metadata.colorProfile == Data(profile))
        #expect(try decoder.decode(data, options: DecodingOptions()).colorProfile == Data(profile))
    }

    @Test(arguments: [0, 1, 2, 3, 100, 255, 256, 257])
    func `an XMP packet is read unchanged`(padding: Int) throws {
        let packet = Array("<?xpacket begin=''?><x:xmpmeta/>".utf8) + [UInt8](repeating: 0x20, count: padding)
        let trailer = [1] + (0...255).reversed().map { UInt8($0) } + [0]
        let block: [UInt8] = [0x21, 0xFF, 11] + Array("XMP DataXMP".utf8) + packet + trailer

        #expect(try decoder.inspect(file([block]), limits: DecodingLimits()).metadata.xmp == Data(packet))
    }

    @Test func `an XMP packet is read whatever its bytes are, and so are the blocks after it`() throws {
        let trailer = [1] + (0...255).reversed().map { UInt8($0) } + [0]
        for letter in UInt8(0x20)...0x7E {
            let packet = [UInt8](repeating: letter, count: 300)
            let block: [UInt8] = [0x21, 0xFF, 11] + Array("XMP DataXMP".utf8) + packet + trailer

            let info = try decoder.inspect(file([block]), limits: DecodingLimits())

            #expect(info.metadata.xmp == Data(packet), "letter \(letter)")
            #expect(info.frameCount == 1)
        }
    }

    @Test func `a repeated end of sub-blocks is skipped`() throws {
        #expect(try decoder.inspect(file([GIFWriter.control(), [0, 0]]), limits: DecodingLimits()).frameCount == 1)
    }

    @Test func `a large profile is read whole`() throws {
        let profile = [UInt8](repeating: 9, count: 3 << 20)
        let data = file([GIFWriter.application("ICCRGBG1012", profile)])

        #expect(try decoder.inspect(data, limits: DecodingLimits()).metadata.colorProfile?.count == 3 << 20)
    }

    @Test func `metadata over the limits is omitted and the image is decoded`() throws {
        let data = file([GIFWriter.application("ICCRGBG1012", [UInt8](repeating: 7, count: 300))])

        for limits in [DecodingLimits(maximumMetadataByteCount: 299), DecodingLimits(maximumChunkByteCount: 299)] {
            let image = try decoder.decode(data, options: DecodingOptions(limits: limits))
            #expect(image.colorProfile == nil)
        }
    }

    @Test func `comments of a megabyte and unknown extensions are skipped`() throws {
        let comment: [UInt8] = [0x21, 0xFE] + GIFWriter.subBlocks([UInt8](repeating: 0x61, count: 1 << 20))
        let unknown: [UInt8] = [0x21, 0x42] + GIFWriter.subBlocks([1, 2, 3])

        let image = try decoder.decode(file([comment, unknown]), options: DecodingOptions())

        #expect(image.pixels.tightBytes == [1, 2, 3, 255])
    }
}
