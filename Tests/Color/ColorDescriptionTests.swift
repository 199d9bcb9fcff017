import AlcedoColor
import AlcedoCore
import Foundation
import TestSupport
import Testing

@Suite struct ColorDescriptionTests {
    private let converter = LittleCMSColorConverter()

    private func converted(_ sample: UInt16, _ description: ColorDescription?) throws -> Int {
        let profile = try #require(description?.profile(isGray: false))
        return try converter.converted(image([sample, sample, sample, 255], profile: profile)).samples[0]
    }

    @Test func `the profile of Display P3 equals one made from published numbers`() throws {
        let samples = grid.flatMap { $0 }
        let other = ProfileMaker.matrix(
            ProfileMaker.p3Colorants, curve: ProfileMaker.curve(4_096, ProfileMaker.light)
        ).data
        let own = try converter.converted(image(samples, profile: OutputColorSpace.displayP3.colorProfile))
        let expected = try converter.converted(image(samples, profile: other))
        for (a, b) in zip(own.samples, expected.samples) { #expect(abs(a - b) <= 1) }
    }

    @Test func `sRGB needs no profile, and equal descriptions give equal bytes`() throws {
        #expect(ColorDescription.sRGB.profile(isGray: false) == nil)
        #expect(ColorDescription(primaries: 1, transfer: 13)?.profile(isGray: false) == nil)
        #expect(ColorDescription(primaries: 2, transfer: 2)?.profile(isGray: true) == nil)
        #expect(ColorDescription(primaries: 9, transfer: 13)?.profile(isGray: true) == nil)
        let first = ColorDescription(primaries: 9, transfer: 14)?.profile(isGray: false)
        #expect(first != nil)
        #expect(first == ColorDescription(primaries: 9, transfer: 14)?.profile(isGray: false))
    }

    @Test(arguments: [true, false])
    func `the header of a profile has its fields at the offsets of the specification`(isGray: Bool) throws {
        let profile = try #require(ColorDescription(primaries: 9, transfer: 14)?.profile(isGray: isGray))
        let bytes = [UInt8](profile)
        #expect(Array(bytes[0..<4]) == ProfileMaker.number(bytes.count))
        #expect(Array(bytes[8..<12]) == [4, 0x40, 0, 0])
        #expect(Array(bytes[12..<24]) == Array("mntr\(isGray ? "GRAY" : "RGB ")XYZ ".utf8))
        #expect(Array(bytes[24..<36]) == [0x07, 0xD0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0])
        #expect(Array(bytes[36..<40]) == Array("acsp".utf8))
        #expect(bytes[40..<64].allSatisfy { $0 == 0 })
        // Media-relative colorimetric intent, and D50
        #expect(Array(bytes[64..<68]) == [0, 0, 0, 1])
        #expect(Array(bytes[68..<80]) == [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D])
        #expect(bytes[80..<128].allSatisfy { $0 == 0 })
    }

    @Test func `code points are stored in the profile`() throws {
        let profile = try #require(ColorDescription(primaries: 9, transfer: 16)?.profile(isGray: false))
        let element = Data("cicp\0\0\0\0".utf8) + Data([9, 16, 0, 1])
        #expect(profile.range(of: element) != nil)
    }

    @Test(
        arguments: [
            (1, 13, "sRGB"), (12, 13, "Display P3"), (9, 16, "BT.2020 PQ"), (9, 18, "BT.2020 HLG"), (1, 1, "BT.709"),
            (9, 14, "BT.2020"), (1, 8, "BT.709 linear"), (6, 4, "BT.601 gamma 0.45455"), (11, 17, "DCI-P3 DCI"),
            (2, 2, nil),
        ] as [(UInt8, UInt8, String?)])
    func `code points have a name`(primaries: UInt8, transfer: UInt8, name: String?) {
        #expect(ColorDescription(primaries: primaries, transfer: transfer)?.name == name)
    }

    @Test func `chromaticities, a gamma and a range have a name`() {
        let custom = ColorPrimaries(
            red: .init(0.7, 0.3), green: .init(0.2, 0.7), blue: .init(0.1, 0.1), white: .init(0.3127, 0.3290))
        #expect(ColorDescription(.bt709, .power(100_000 / 55_556)).name == "gamma 0.55556")
        #expect(ColorDescription(.p3, .power(1)).name == "P3 linear")
        #expect(ColorDescription(custom, .power(2.2)).name == "custom primaries gamma 0.45455")
        let narrow = ColorDescription(primaries: 9, transfer: 16, isFullRange: false)
        #expect(narrow?.name == "BT.2020 PQ, limited range")
    }

    @Test(arguments: [0, 3, 10, 13, 21, 255] as [UInt8])
    func `reserved primaries have no description`(codePoint: UInt8) {
        #expect(ColorDescription(primaries: codePoint, transfer: 13) == nil)
    }

    @Test(arguments: [0, 3, 9, 10, 19, 255] as [UInt8])
    func `reserved and logarithmic transfer functions have no description`(codePoint: UInt8) {
        #expect(ColorDescription(primaries: 1, transfer: codePoint) == nil)
    }

    @Test(arguments: [1, 4, 5, 6, 7, 8, 14, 15, 16, 17, 18] as [UInt8])
    func `black stays black, white stays white, and light grows with the sample`(transfer: UInt8) throws {
        let description = ColorDescription(primaries: 1, transfer: transfer)
        let light = (0...255).map { description?.transfer.light(Double($0) / 255) ?? -1 }
        #expect(abs(light[0]) < 1e-6)
        #expect(zip(light, light.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(try converted(0, description) == 0)
        #expect(try converted(255, description) >= 254)
    }

    @Test func `a power of 2.2 gives the samples of the formula`() throws {
        let expected = ProfileMaker.sample(pow(100.0 / 255, 2.2)) * 255
        #expect(try abs(Double(converted(100, ColorDescription(primaries: 1, transfer: 4))) - expected) <= 1)
    }

    @Test func `a narrow range ends at 16 and 235`() throws {
        let narrow = ColorDescription(primaries: 1, transfer: 13, isFullRange: false)
        #expect(try converted(16, narrow) == 0)
        #expect(try converted(235, narrow) == 255)
        #expect(try converted(0, narrow) == 0)
        #expect(try abs(converted(126, narrow) - 128) <= 1)
    }

    @Test func `HDR below the knee keeps its luminance, and the peak becomes white`() throws {
        // The samples of SMPTE ST 2084 for 20.3 and 1,000 cd/m², and the reference white of HLG at 75 %.
        let pq = try #require(ColorDescription(primaries: 9, transfer: 16)).transfer
        #expect(abs(pq.light(0.3583) - 0.1) < 0.001)
        #expect(abs(pq.light(0.7518) - 1) < 0.001)
        #expect(pq.light(1) == 1)
        let reference = pq.light(0.5807)
        #expect(reference > 0.75)
        #expect(reference < 0.82)
        let hlg = try #require(ColorDescription(primaries: 9, transfer: 18)).transfer
        #expect(abs(hlg.light(0.75) - reference) < 0.01)
        #expect(hlg.light(1) > 0.999)
    }
}
