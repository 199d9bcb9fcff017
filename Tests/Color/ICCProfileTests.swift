import AlcedoColor
import AlcedoCore
import Foundation
import TestSupport
import Testing

@Suite struct ICCProfileTests {
    private static let serial = Data("SERIAL 4711".utf8)

    /// A version 4 profile in which three curves share one element.
    private func p3() throws -> Data { try #require(OutputColorSpace.displayP3.colorProfile) }

    /// Returns a name as version 2 stores it.
    private func name(_ text: String) -> [UInt8] {
        var bytes = Array("desc\0\0\0\0".utf8)
        bytes += ProfileMaker.number(text.utf8.count + 1)
        bytes += Array(text.utf8)
        // The end of the text, and empty texts in Unicode and ScriptCode.
        return bytes + [UInt8](repeating: 0, count: 1 + 4 + 4 + 2 + 1 + 67)
    }

    /// Returns a name in several languages as version 4 stores it.
    private func names(_ texts: [(language: String, text: String)]) -> [UInt8] {
        var bytes = Array("mluc\0\0\0\0".utf8)
        bytes += ProfileMaker.number(texts.count) + ProfileMaker.number(12)
        var strings: [UInt8] = []
        for (language, text) in texts {
            let units = text.utf16.flatMap { ProfileMaker.short(Int($0)) }
            bytes += Array(language.utf8) + ProfileMaker.number(units.count)
            bytes += ProfileMaker.number(16 + 12 * texts.count + strings.count)
            strings += units
        }
        return bytes + strings
    }

    private func profile(named element: [UInt8]) -> Data {
        ProfileMaker(tags: [("wtpt", ProfileMaker.xyz([0.9642, 1, 0.8249])), ("desc", element)]).data
    }

    @Test func `a matrix profile with the curves of sRGB has the code point of its primaries`() throws {
        for codePoint in [9, 12] as [UInt8] {
            let profile = try #require(ColorDescription(primaries: codePoint, transfer: 13)?.profile(isGray: false))
            #expect(ICCProfile.primariesWithCurveOfSRGB(profile) == codePoint)
        }
        let table = ProfileMaker.curve(1_024, ProfileMaker.light)
        func primaries(_ made: ProfileMaker) -> UInt8? { ICCProfile.primariesWithCurveOfSRGB(made.data) }
        #expect(primaries(.matrix(ProfileMaker.p3Colorants, curve: table)) == 12)
        #expect(primaries(.matrix(ProfileMaker.sRGBColorants, curve: table)) == 1)
        #expect(primaries(.matrix(ProfileMaker.sRGBColorants, curve: ProfileMaker.gamma(2.2))) == nil)
        #expect(primaries(.matrix(ProfileMaker.sRGBColorants.reversed(), curve: table)) == nil)
        #expect(primaries(.matrix(ProfileMaker.sRGBColorants, curve: Array(table.prefix(100)))) == nil)
        #expect(primaries(.matrix(ProfileMaker.sRGBColorants, curve: Array("para".utf8))) == nil)
        #expect(primaries(.p3Table) == nil)
        #expect(primaries(.gray(table)) == nil)
        #expect(ICCProfile.primariesWithCurveOfSRGB(Data()) == nil)
    }

    @Test(arguments: ["mmod", "vcgt", "meta", "dmnd", "targ", "abcd"])
    func `a tag that can identify a device is removed, and the rest keeps its bytes`(tag: String) throws {
        let whole = try p3()
        let tagged = whole.addingICCTag(tag, Self.serial)
        #expect(tagged.range(of: Self.serial) != nil)
        #expect(ICCProfile.withoutPrivateTags(tagged) == whole)
    }

    @Test func `a profile of color tags is returned unchanged`() throws {
        // Its digest stays, too.
        var profile = ProfileMaker.matrix(ProfileMaker.p3Colorants, curve: ProfileMaker.gamma(1.8)).data
        profile.replaceSubrange(84..<100, with: Data(repeating: 7, count: 16))
        for data in [profile, ProfileMaker.p3Table.data, ProfileMaker.inks.data, try p3()] {
            #expect(ICCProfile.withoutPrivateTags(data) == data)
        }
    }

    @Test func `bytes that belong to no tag are removed`() throws {
        let plain = try p3()
        #expect(ICCProfile.withoutPrivateTags(plain + Self.serial) == plain)
        // An entry without bytes takes no part of the profile, and the bytes of its former element remain.
        var profile = plain.addingICCTag("mmod", Self.serial)
        let entry = 132 + 12 * Int(plain[131])
        profile.replaceSubrange(entry..<entry + 12, with: Data("cprt".utf8) + Data(count: 8))
        #expect(ICCProfile.withoutPrivateTags(profile) == plain)
    }

    @Test func `the digest of a changed profile is removed`() throws {
        let plain = try p3()
        var profile = plain.addingICCTag("mmod", Self.serial)
        profile.replaceSubrange(84..<100, with: Data(repeating: 7, count: 16))
        #expect(ICCProfile.withoutPrivateTags(profile) == plain)
    }

    @Test func `the date and the makers in the header of a changed profile are removed`() throws {
        let plain = try p3()
        var profile = plain.addingICCTag("mmod", Self.serial)
        for field in [24..<36, 48..<56, 80..<84] {
            profile.replaceSubrange(field, with: Data(repeating: 7, count: field.count))
        }
        #expect(ICCProfile.withoutPrivateTags(profile) == plain)
    }

    @Test(arguments: [ProfileMaker.p3Table.data, ProfileMaker.gray(ProfileMaker.gamma(1.8)).data])
    func `the colors stay`(profile: Data) throws {
        let kept = try #require(ICCProfile.withoutPrivateTags(profile.addingICCTag("mmod", Self.serial)))
        let samples = grid.flatMap { $0 }
        let converter = LittleCMSColorConverter()
        let expected = try converter.converted(image(samples, profile: profile)).samples
        #expect(try converter.converted(image(samples, profile: kept)).samples == expected)
    }

    @Test func `overlapping elements do not make a profile larger`() throws {
        var bytes = [UInt8](try p3().addingICCTag("mmod", Self.serial))
        for index in 0..<bytes[131] {
            let entry = 132 + 12 * Int(index)
            let element = ProfileMaker.number(Int(index)) + ProfileMaker.number(bytes.count - Int(index))
            bytes.replaceSubrange(entry + 4..<entry + 12, with: element)
        }
        #expect(ICCProfile.withoutPrivateTags(Data(bytes)) == nil)
    }

    @Test func `bytes without a tag table have neither a result nor a name`() throws {
        let profile = try p3()
        var many = profile
        many.replaceSubrange(128..<132, with: Data(ProfileMaker.number(101)))
        var unsigned = profile
        unsigned[36] ^= 1
        let tableEnd = 132 + 12 * Int(profile[131])
        let short = profile.prefix(tableEnd - 1)
        for bytes in [Data(), Data([1]), Data(repeating: 255, count: 4_000), short, many, unsigned] {
            #expect(ICCProfile.withoutPrivateTags(bytes) == nil)
            #expect(ICCProfile.name(of: bytes) == nil)
        }
    }

    @Test func `flipped bits and truncation never trap, and a result stays unchanged`() throws {
        var generator = SeededGenerator(seed: 35)
        let english = names([("deDE", "Anzeige"), ("enUS", "Display")])
        let sources = [
            try p3().addingICCTag("mmod", Self.serial), profile(named: name("Display")), profile(named: english),
        ]
        for source in sources {
            for count in 0..<source.count { check(source.prefix(count)) }
            for _ in 0..<2_000 {
                var damaged = source
                for _ in 0..<3 {
                    damaged[Int.random(in: 0..<source.count, using: &generator)] ^=
                        1 << UInt8.random(in: 0..<8, using: &generator)
                }
                check(damaged)
            }
        }
    }

    private func check(_ profile: Data) {
        _ = ICCProfile.name(of: profile)
        guard let result = ICCProfile.withoutPrivateTags(profile) else { return }
        #expect(ICCProfile.withoutPrivateTags(result) == result)
    }

    @Test func `the name is read in both versions, and preferably in English`() throws {
        #expect(try ICCProfile.name(of: p3()) == "Display P3")
        #expect(ICCProfile.name(of: profile(named: name("Camera RGB"))) == "Camera RGB")
        let texts = [(language: "deDE", text: "Größe"), (language: "enUS", text: "Size")]
        #expect(ICCProfile.name(of: profile(named: names(texts))) == "Size")
        #expect(ICCProfile.name(of: profile(named: names([texts[0]]))) == "Größe")
        #expect(ICCProfile.name(of: profile(named: name(String(repeating: "a", count: 300))))?.count == 200)
    }

    @Test func `a name beyond its element counts as absent`() {
        var long = name("Camera")
        long.replaceSubrange(8..<12, with: ProfileMaker.number(0xFFFF_FFFF))
        var records = names([("enUS", "Camera")])
        records.replaceSubrange(8..<16, with: [UInt8](repeating: 255, count: 8))
        var offset = names([("enUS", "Camera")])
        offset.replaceSubrange(24..<28, with: ProfileMaker.number(0xFFFF_FFFF))
        for element in [long, records, offset, name(""), names([]), Array("text\0\0\0\0Camera".utf8)] {
            #expect(ICCProfile.name(of: profile(named: element)) == nil)
        }
        #expect(ICCProfile.name(of: ProfileMaker.p3Table.data) == nil)
    }
}
