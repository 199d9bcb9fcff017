import AlcedoCodecs
import AlcedoColor
import AlcedoCore
import Foundation
import TestSupport
import Testing

/// Gray profiles in files with colors, and of gray pixels that are stored as RGB.
@Suite struct GrayProfileTests {
    private static let targets: [ImageEncoder] = [.webp(lossless: true), .webp(), .gif(), .jpeg(), .png()]

    private let converter = LittleCMSColorConverter()
    private let gray = ProfileMaker.gray(ProfileMaker.gamma(1.8)).data

    /// Returns a file with colors whose profile claims to be gray.
    private func colorFile(_ encoder: ImageEncoder) throws -> Data {
        let profile = ProfileMaker.matrix(ProfileMaker.sRGBColorants, curve: ProfileMaker.gamma(1.8)).data
        var file = try encoder.encode(image([200, 100, 50, 255, 10, 20, 30, 255], profile: profile))
        // All formats but PNG store a profile without compression.
        let space = try #require(file.range(of: Data("mntrRGB XYZ ".utf8)))
        file.replaceSubrange(space, with: Data("mntrGRAYXYZ ".utf8))
        return file
    }

    @Test(arguments: targets.dropLast().indices)
    func `a gray profile in a file with colors is ignored`(target: Int) throws {
        let file = try colorFile(Self.targets[target])
        let info = try CodecRegistry.standard.inspect(file)
        #expect(info.metadata.colorProfile != nil)
        #expect(info.sampleProfile == nil)
        #expect(try CodecRegistry.standard.decode(file).colorProfile == nil)
        let collector = PixelRowCollector()
        try CodecRegistry.standard.decodeRows(file, options: DecodingOptions(), into: collector)
        let rows = try #require(collector.image)
        #expect(rows.colorProfile == nil)
    }

    @Test(arguments: targets.indices)
    func `the gray profile of pixels that are stored as RGB becomes an RGB profile`(target: Int) throws {
        let levels: [UInt16] = [0, 90, 200, 255]
        let original = try image(levels.flatMap { level -> [UInt16] in [level, level, level, 255] }, profile: gray)
        let stored = try CodecRegistry.standard.decode(Self.targets[target].encode(original)).colorProfile
        #expect(stored != nil)
        #expect(stored == ICCProfile.encoded(gray, isGray: false))
        #expect(ICCProfile.encoded(gray, isGray: true) == gray)
    }

    @Test func `the RGB profile gives gray pixels the colors of the gray profile`() throws {
        let levels = Array(UInt16(0)...255)
        let samples = levels.flatMap { level -> [UInt16] in [level, level, level, 255] }
        let curves = [ProfileMaker.gamma(1), ProfileMaker.gamma(2.2), ProfileMaker.curve(1_024, ProfileMaker.light)]
        for curve in curves {
            let gray = ProfileMaker.gray(curve).data
            let rgb = try #require(ICCProfile.encoded(gray, isGray: false))
            let expected = try converter.converted(image(samples, profile: gray)).samples
            let result = try converter.converted(image(samples, profile: rgb)).samples
            #expect(zip(result, expected).allSatisfy { abs($0 - $1) <= 2 })
        }
    }

    @Test func `the RGB profile keeps the name, and no private tag`() throws {
        var named = ProfileMaker.gray(ProfileMaker.gamma(1.8))
        let text = Array("Scanner".utf8)
        let name = Array("desc\0\0\0\0".utf8) + ProfileMaker.number(text.count + 1) + text
        named.tags.append(("desc", name + [UInt8](repeating: 0, count: 79)))
        let serial = Data("SERIAL 4711".utf8)
        let rgb = try #require(ICCProfile.encoded(named.data.addingICCTag("mmod", serial), isGray: false))
        #expect(ICCProfile.name(of: rgb) == "Scanner")
        #expect(rgb.range(of: serial) == nil)
        #expect(ICCProfile.withoutPrivateTags(rgb) == rgb)
    }

    @Test func `a gray profile with more than a curve has no RGB profile`() {
        var lab = ProfileMaker.gray(ProfileMaker.gamma(1.8))
        lab.connectionSpace = "Lab "
        var table = ProfileMaker.gray(ProfileMaker.gamma(1.8))
        table.tags.append(("A2B0", [0, 0, 0, 0]))
        let profiles = [lab.data, table.data, ProfileMaker(space: "GRAY").data, gray.prefix(140)]
        for profile in profiles { #expect(ICCProfile.encoded(profile, isGray: false) == nil) }
    }

    @Test func `profiles that are not gray stay unchanged`() {
        for profile in [nil, Data(), Data("broken".utf8), ProfileMaker.p3Table.data, ProfileMaker.inks.data] {
            #expect(ICCProfile.encoded(profile, isGray: false) == profile)
            #expect(ICCProfile.ofSamples(profile, isGray: false) == profile)
        }
    }
}
