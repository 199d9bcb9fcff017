import AlcedoCodecs
import AlcedoCore
import Foundation
import Testing

/// Gray profiles in files with colors.
@Suite struct GrayProfileTests {
    private static let targets: [ImageEncoder] = [.webp(lossless: true), .webp(), .gif(), .jpeg(), .png()]

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
        #expect(info.metadata.colorProfile != nil && info.sampleProfile == nil)
        #expect(try CodecRegistry.standard.decode(file).colorProfile == nil)
        let collector = PixelRowCollector()
        try CodecRegistry.standard.decodeRows(file, options: DecodingOptions(), into: collector)
        let rows = try #require(collector.image)
        #expect(rows.colorProfile == nil)
    }
}
