import AlcedoCodecs
import AlcedoColor
import AlcedoCore
import Foundation
import TestSupport
import Testing

@Suite struct PNGColorSpaceTests {
    /// A chunk to insert before the pixels.
    private struct Chunk {
        var name: String
        var body: [UInt8]

        static let sRGB = Chunk(name: "sRGB", body: [0])
        static func gamma(_ value: Int) -> Chunk { Chunk(name: "gAMA", body: ProfileMaker.number(value)) }
        static func codePoints(_ values: [UInt8]) -> Chunk { Chunk(name: "cICP", body: values) }
        static func chromaticities(_ values: [Int]) -> Chunk {
            Chunk(name: "cHRM", body: values.flatMap(ProfileMaker.number))
        }
        static let p3 = chromaticities([31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000])

        var bytes: [UInt8] {
            let checked = Array(name.utf8) + body
            var checksum: UInt32 = 0xFFFF_FFFF
            for byte in checked {
                checksum ^= UInt32(byte)
                for _ in 0..<8 { checksum = checksum >> 1 ^ (checksum & 1 == 1 ? 0xEDB8_8320 : 0) }
            }
            return ProfileMaker.number(body.count) + checked + ProfileMaker.number(Int(~checksum))
        }
    }

    private let profile = ProfileMaker.matrix(ProfileMaker.p3Colorants, curve: ProfileMaker.gamma(1.8)).data

    /// Returns a PNG with the chunks after the header, before an ICC profile if there is one.
    private func file(_ chunks: [Chunk], profile: Data? = nil, _ format: PixelFormat = .rgba8) throws -> Data {
        let samples: [UInt16] = format == .gray8 ? [64] : [200, 100, 50, 255]
        let data = try ImageEncoder.png().encode(image(samples, format, profile: profile))
        return Data(data.prefix(33)) + Data(chunks.flatMap(\.bytes)) + Data(data.dropFirst(33))
    }

    private func decoded(_ chunks: [Chunk], profile: Data? = nil) throws -> DecodedImage {
        try CodecRegistry.standard.decode(file(chunks, profile: profile))
    }

    private func codePoints(_ primaries: UInt8, _ transfer: UInt8) throws -> Data {
        try #require(ColorDescription(primaries: primaries, transfer: transfer)?.profile(isGray: false))
    }

    @Test func `a profile counts without code points`() throws {
        #expect(try decoded([], profile: profile).colorProfile == profile)
        #expect(try decoded([.gamma(100_000), .p3], profile: profile).colorProfile == profile)
        #expect(try decoded([.sRGB], profile: profile).colorProfile == profile)
        #expect(try decoded([.codePoints([12, 13, 0])], profile: profile).colorProfile == profile)
        #expect(try decoded([.codePoints([12, 13, 1, 1])], profile: profile).colorProfile == profile)
        #expect(try decoded([.codePoints([3, 13, 0, 1])], profile: profile).colorProfile == profile)
    }

    @Test func `code points come before a profile, which stays in the metadata`() throws {
        let data = try file([.codePoints([9, 16, 0, 1]), .sRGB], profile: profile)
        #expect(try CodecRegistry.standard.decode(data).colorProfile == codePoints(9, 16))
        #expect(try CodecRegistry.standard.inspect(data).metadata.colorProfile == profile)
        #expect(try decoded([.codePoints([1, 13, 0, 1])], profile: profile).colorProfile == nil)
    }

    @Test func `sRGB comes before gamma, and chromaticities count only with gamma`() throws {
        #expect(try decoded([.gamma(100_000), .p3, .sRGB]).colorProfile == nil)
        #expect(try decoded([.p3]).colorProfile == nil)
        #expect(try decoded([]).colorProfile == nil)
        #expect(try decoded([.gamma(100_000)]).colorProfile != nil)
        #expect(try decoded([.gamma(100_000), .p3]).colorProfile != decoded([.gamma(100_000)]).colorProfile)
    }

    @Test(arguments: [0, 1, 9_999, 1_000_001, 0x7FFF_FFFF])
    func `a gamma that no display has is ignored`(gamma: Int) throws {
        #expect(try decoded([.gamma(gamma)]).colorProfile == nil)
    }

    @Test func `the usual gamma means sRGB only with the primary colors of sRGB`() throws {
        let common = [31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000]
        #expect(try decoded([.gamma(45_455)]).colorProfile == nil)
        #expect(try decoded([.gamma(45_455), .chromaticities(common)]).colorProfile == nil)
        #expect(try decoded([.gamma(45_455), .p3]).colorProfile != nil)
        #expect(try decoded([.gamma(50_000)]).colorProfile != nil)
    }

    @Test(arguments: [
        [0, 0, 0, 0, 0, 0, 0, 0], [31270, 32900, 30000, 60000, 30000, 60000, 15000, 6000],
        [31270, 1, 64000, 33000, 30000, 60000, 15000, 6000], [-1, -1, -1, -1, -1, -1, -1, -1],
    ])
    func `impossible chromaticities are ignored, and the gamma counts`(values: [Int]) throws {
        #expect(
            try decoded([.gamma(100_000), .chromaticities(values)]).colorProfile
                == decoded([.gamma(100_000)]).colorProfile)
    }

    @Test func `a damaged chunk is ignored`() throws {
        var bytes = Array(try file([.gamma(100_000)]))
        bytes[33 + 12] ^= 1
        #expect(try CodecRegistry.standard.decode(Data(bytes)).colorProfile == nil)
    }

    @Test(arguments: [PixelFormat.gray8, .rgba8])
    func `a linear gray image becomes lighter in each format`(format: PixelFormat) throws {
        let data = try file([.gamma(100_000)], .gray8)
        let image = try CodecRegistry.standard.decode(data, options: DecodingOptions(pixelFormat: format))
        let result = try LittleCMSColorConverter().converted(image)
        #expect(image.pixels.format == format)
        #expect(image.samples[0] == 64)
        #expect(abs(result.samples[0] - 137) <= 1)
    }

    @Test func `rows, pieces and animations have the same profile`() throws {
        let data = try file([.codePoints([12, 13, 0, 1])])
        let expected = try codePoints(12, 13)
        let collector = PixelRowCollector()
        try CodecRegistry.standard.decodeRows(data, into: collector)
        let pieces = CodecRegistry.standard.makeIncrementalDecoder()
        for byte in data { try pieces.append(Data([byte])) }
        #expect(collector.image?.colorProfile == expected)
        #expect(try pieces.finish().colorProfile == expected)
    }
}
