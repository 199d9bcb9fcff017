import AlcedoColor
import AlcedoCore
import Foundation
import TestSupport
import Testing

@Suite struct BrokenProfileTests {
    private let converter = LittleCMSColorConverter()

    /// Profiles of each kind.
    static let profiles: [ProfileMaker] = [
        .matrix(ProfileMaker.p3Colorants, curve: ProfileMaker.curve(64, ProfileMaker.light)), .p3Table, .inks,
        .gray(ProfileMaker.gamma(1.8)),
    ]

    private func convert(_ profile: Data) throws {
        var pixel = try image([10, 20, 30, 255], profile: profile)
        pixel.hasInks = profile.dropFirst(16).prefix(4).elementsEqual("CMYK".utf8)
        _ = try converter.converted(pixel)
    }

    @Test(arguments: [Data(), Data([1]), Data(repeating: 0, count: 128), Data(repeating: 255, count: 4_000)])
    func `bytes that are no profile are an error`(profile: Data) throws {
        #expect(code { try convert(profile) } == .invalidProfile)
    }

    @Test(arguments: 0..<4)
    func `a truncated profile is an error`(index: Int) throws {
        let profile = Self.profiles[index].data
        for count in stride(from: 0, to: profile.count - 8, by: max(1, profile.count / 97)) {
            #expect(code { try convert(profile.prefix(count)) } != nil, "\(count) of \(profile.count) bytes")
        }
    }

    @Test(arguments: 0..<4)
    func `flipped bits never crash`(index: Int) throws {
        var generator = SeededGenerator(seed: UInt64(index))
        let profile = Self.profiles[index].data
        var errors = 0
        for _ in 0..<200 {
            var damaged = profile
            for _ in 0..<3 {
                // Most flips hit the header and the tags, where lengths and types are.
                let limit = Bool.random(using: &generator) ? min(260, profile.count) : profile.count
                damaged[Int.random(in: 0..<limit, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
            if code({ try convert(damaged) }) != nil { errors += 1 }
        }
        #expect(errors > 5)
    }

    @Test func `a profile without a part is an error with a reason`() throws {
        var profile = Self.profiles[0]
        profile.tags.removeAll { $0.name == "gXYZ" }
        do {
            _ = try converter.converted(image([1, 2, 3, 255], profile: profile.data))
            Issue.record("the profile was used")
        } catch let error as ColorConversionError {
            #expect(error.code == .invalidProfile)
            #expect(error.message == "color: the primary colors are missing or do not add up to white")
        }
    }

    @Test(arguments: [("link", "RGB "), ("nmcl", "RGB "), ("mntr", "Lab "), ("spac", "6CLR")])
    func `a profile of another kind is unsupported`(deviceClass: String, space: String) throws {
        var profile = Self.profiles[0]
        (profile.deviceClass, profile.space) = (deviceClass, space)
        #expect(code { try convert(profile.data) } == .unsupportedProfile)
    }

    @Test func `a table that exceeds the memory limit is an error`() throws {
        // 255 grid points of three channels need 99 MB, which the profile does not have.
        var profile = ProfileMaker.p3Table
        profile.tags[0].element[10] = 255
        #expect(code { try convert(profile.data) } == .invalidProfile)
    }

    @Test(arguments: ["D2B0", "D2B1"])
    func `multi-process elements are ignored`(tag: String) throws {
        var profile = ProfileMaker.p3Table
        profile.tags.append((tag, Array("mpet\0\0\0\0".utf8) + [UInt8](repeating: 255, count: 100)))
        let samples = grid.flatMap { $0 }
        let expected = try converter.converted(image(samples, profile: ProfileMaker.p3Table.data)).samples
        #expect(try converter.converted(image(samples, profile: profile.data)).samples == expected)
    }

    @Test func `an unusable profile is ignored by a plan, and the samples count as sRGB`() throws {
        let original = try image([200, 100, 50, 255], profile: Data("broken".utf8))
        let plan = ColorConversionPlan(original.rowHeader, to: .sRGB, by: converter)
        let result = plan.applied(to: original, by: converter, .sRGB)
        #expect(plan.error?.code == .invalidProfile)
        #expect(result.colorProfile == nil)
        #expect(result.pixels.sharesMemory(with: original.pixels))
        let wide = ColorConversionPlan(original.rowHeader, to: .displayP3, by: converter)
        let expected = try converter.converted(image([200, 100, 50, 255], profile: nil), to: .displayP3)
        #expect(wide.applied(to: original, by: converter, .displayP3).pixels == expected.pixels)
    }
}
