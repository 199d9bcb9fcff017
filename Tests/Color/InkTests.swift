import AlcedoCodecs
import AlcedoColor
import AlcedoCore
import Foundation
import TestSupport
import Testing

@Suite struct InkTests {
    private let converter = LittleCMSColorConverter(compensatesBlackPoint: false)
    private let profile = ProfileMaker.inks.data

    private func inks(_ samples: [UInt16], _ alphaMode: AlphaMode = .opaque, profile: Data?) throws -> DecodedImage {
        var result = try image(samples, .rgba8, alphaMode, profile: profile)
        result.hasInks = true
        return result
    }

    /// A CMYK JPEG of the JPEG module's tests, with an ICC profile.
    private func file(_ name: String = "cmyk.jpg", profile: Data) throws -> Data {
        let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../JPEG/Fixtures")
        return ProfileMaker.jpeg(try Data(contentsOf: directory.appending(path: name)), with: profile)
    }

    private func options(_ change: (inout DecodingOptions) -> Void = { _ in }) -> DecodingOptions {
        var options = DecodingOptions()
        options.keepsInks = true
        change(&options)
        return options
    }

    @Test func `inks become the colors of their profile`() throws {
        let result = try converter.converted(
            inks([255, 255, 255, 255, 0, 255, 255, 255, 255, 255, 255, 0, 255, 0, 128, 255], profile: profile))
        func color(_ ink: [Double]) -> [Double] {
            let d50 = [0.9642, 1, 0.8249]
            let xyz = zip(d50, ink).map { $0 * (1 - 0.9 * $1) * (1 - 0.95 * ink[3]) }
            // The matrix from XYZ (D50) to linear sRGB by Bradford adaptation, as published by Bruce Lindbloom.
            let matrix = [
                [3.1338561, -1.6168667, -0.4906146], [-0.9787684, 1.9161415, 0.0334540],
                [0.0719453, -0.2289914, 1.4052427],
            ]
            return matrix.map { row in ProfileMaker.sample(zip(row, xyz).reduce(0) { $0 + $1.0 * $1.1 }) * 255 } + [255]
        }
        let expected = [[0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 1, 127.0 / 255, 0]].flatMap(color)
        for (sample, wanted) in zip(result.samples, expected) { #expect(abs(Double(sample) - wanted) <= 3) }
        #expect(!result.hasInks)
        #expect(result.colorProfile == nil)
    }

    @Test func `the darkest color becomes black with black point compensation`() throws {
        // Little CMS looks for the black point of a printer in the opposite table, which this profile does not have,
        // and for that of a scanner in the table of the intent.
        var scanner = ProfileMaker.inks
        scanner.deviceClass = "scnr"
        scanner.tags.append(("A2B1", scanner.tags[0].element))
        let black: [UInt16] = [0, 0, 0, 0]
        let plain = try converter.converted(inks(black, profile: scanner.data)).samples
        let compensated = try LittleCMSColorConverter().converted(inks(black, profile: scanner.data)).samples
        #expect(plain[1] >= 10)
        #expect(compensated[1] <= 4)
        #expect(compensated[3] == 255)
    }

    @Test func `missing pixels of a partial image stay transparent`() throws {
        let samples: [UInt16] = [255, 255, 255, 255, 0, 0, 0, 0, 255, 255, 255, 255]
        for profile in [profile, Data("broken".utf8)] {
            let plan = ColorConversionPlan(
                try inks(samples, .straight, profile: profile).rowHeader, to: .sRGB, by: converter)
            let result = plan.applied(to: try inks(samples, .straight, profile: profile), by: converter, .sRGB)
            #expect(result.samples[3...7] == [255, 0, 0, 0, 0])
            #expect(result.samples[11] == 255)
        }
    }

    @Test(arguments: ["cmyk.jpg", "ycck.jpg"])
    func `a JPEG keeps its inks only on request and only with a profile of inks`(name: String) throws {
        let data = try file(name, profile: profile)
        let plain = try CodecRegistry.standard.decode(data)
        let kept = try CodecRegistry.standard.decode(data, options: options())
        let rgb = try CodecRegistry.standard.decode(file(name, profile: ProfileMaker.p3Table.data), options: options())
        #expect(!plain.hasInks)
        #expect(plain.colorProfile == nil)
        #expect(kept.hasInks)
        #expect(kept.colorProfile == profile)
        #expect(!rgb.hasInks)
        #expect(rgb.colorProfile == nil)
        #expect(rgb.pixels == plain.pixels)
    }

    @Test(arguments: ["cmyk.jpg", "ycck.jpg"])
    func `inks whose profile is broken have the colors of the decoder's formula`(name: String) throws {
        var broken = profile
        broken.replaceSubrange(132..<136, with: Data("A2B9".utf8))
        let kept = try CodecRegistry.standard.decode(file(name, profile: broken), options: options())
        let plan = ColorConversionPlan(kept.rowHeader, to: .sRGB, by: converter)
        let plain = try CodecRegistry.standard.decode(file(name, profile: broken))
        #expect(kept.hasInks)
        #expect(plan.error?.code == .invalidProfile)
        #expect(plan.applied(to: kept, by: converter, .sRGB).pixels == plain.pixels)
    }

    @Test func `rows, pieces and smaller sizes have the same inks`() throws {
        let data = try file(profile: profile)
        let whole = try CodecRegistry.standard.decode(data, options: options())
        let collector = PixelRowCollector()
        try CodecRegistry.standard.decodeRows(data, options: options(), into: collector)
        let pieces = CodecRegistry.standard.makeIncrementalDecoder(options: options())
        for byte in data { try pieces.append(Data([byte])) }
        let slow = try pieces.finish()
        #expect(collector.image?.pixels == whole.pixels)
        #expect(collector.image?.hasInks == true)
        #expect(slow.pixels == whole.pixels)
        #expect(slow.hasInks)
        let small = try CodecRegistry.standard.decode(
            data, options: options { $0.target = TargetSize(width: 4, height: 4) })
        #expect(small.hasInks)
        #expect(small.size.width < whole.size.width)
    }

    @Test func `a gray profile counts in a gray JPEG and not in a color JPEG`() throws {
        let gray = ProfileMaker.gray(ProfileMaker.gamma(1)).data
        #expect(try CodecRegistry.standard.decode(file("420.jpg", profile: gray)).colorProfile == nil)
        #expect(try CodecRegistry.standard.decode(file("gray.jpg", profile: gray)).colorProfile == gray)
    }

    @Test func `a profile of other samples is an error`() throws {
        let rgb = ProfileMaker.p3Table.data
        #expect(code { _ = try converter.converted(inks([9, 9, 9, 9], profile: rgb)) } == .unsupportedProfile)
        #expect(code { _ = try converter.converted(image([9, 9, 9, 255], profile: profile)) } == .unsupportedProfile)
        let wide = try image([9, 9, 9, 255], .rgba16, profile: profile)
        #expect(code { _ = try converter.converted(wide) } == .unsupportedProfile)
    }
}
