import AlcedoCore
import Foundation
import TestSupport
import Testing

@Suite struct MetadataDamageTests {
    private let exif = Data(ImageOrientation.right.exif)
    private let xmp = Data("<x:xmpmeta xmlns:x='adobe:ns:meta/'><a xmlns='b'>text</a></x:xmpmeta>".utf8)

    private func damage(_ metadata: ImageMetadata, _ model: ColorModel = .rgb) -> DamageTolerance? {
        ImageInfo(
            format: .png, size: PixelSize(width: 1, height: 1), colorModel: model, metadata: metadata
        ).metadataDamage?.kind
    }

    @Test func `valid metadata is not damaged`() throws {
        let rgb = try #require(ColorDescription(.p3, .power(2.2)).profile(isGray: false))
        let gray = try #require(ColorDescription(.bt709, .power(2.2)).profile(isGray: true))
        let padding = Data("\u{FEFF} ".utf8) + xmp + Data(repeating: 0, count: 9)
        let long = Data("<a>".utf8) + Data(repeating: 0x20, count: 9_000) + Data("</a>\n".utf8)

        #expect(damage(ImageMetadata()) == nil)
        #expect(damage(ImageMetadata(colorProfile: rgb, exif: exif, xmp: xmp)) == nil)
        let tests = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let stored = try Data(contentsOf: tests.appending(path: "JPEG/Fixtures/profile.icc"))
        #expect(damage(ImageMetadata(colorProfile: stored), .yCbCr) == nil)
        for model in [ColorModel.gray, .grayAlpha] {
            #expect(damage(ImageMetadata(colorProfile: gray), model) == nil)
            #expect(damage(ImageMetadata(colorProfile: rgb), model) == nil)
        }
        for xmp in [padding, long, try #require(String(decoding: xmp, as: UTF8.self).data(using: .utf16))] {
            #expect(damage(ImageMetadata(xmp: xmp)) == nil)
        }
    }

    @Test func `a profile that cannot be used is harmless damage`() throws {
        let rgb = try #require(ColorDescription(.p3, .power(2.2)).profile(isGray: false))
        let gray = try #require(ColorDescription(.bt709, .power(2.2)).profile(isGray: true))
        var untagged = rgb
        untagged.replaceSubrange(try #require(rgb.range(of: Data("gTRC".utf8))), with: Data("xTRC".utf8))

        for profile in [Data(), rgb.prefix(100), Data(count: rgb.count), rgb.dropLast(300), untagged, gray] {
            #expect(damage(ImageMetadata(colorProfile: profile)) == .harmless)
        }
        #expect(damage(ImageMetadata(colorProfile: rgb), .cmyk) == .harmless)
        var ignored = ImageMetadata()
        ignored.hasIgnoredColorProfile = true
        #expect(damage(ignored) == .harmless)
    }

    @Test func `EXIF without a whole first directory is harmless damage`() {
        for exif in [Data(), Data("XXjunk!!".utf8), exif.prefix(7), exif.prefix(9), exif.prefix(20)] {
            #expect(damage(ImageMetadata(exif: exif)) == .harmless, "\(exif.count) bytes")
        }
        // The end of the directory, which is the offset of the next one, may be missing.
        #expect(damage(ImageMetadata(exif: exif.dropLast(4))) == nil)
    }

    @Test func `XMP that is no XML is harmless damage`() {
        let long = Data("<a>".utf8) + Data(repeating: 0x20, count: 9_000) + Data("</a".utf8)
        for xmp in [Data(), Data(" \n\0".utf8), Data("junk".utf8), xmp.dropLast(9), xmp.dropFirst(), long] {
            #expect(damage(ImageMetadata(xmp: xmp)) == .harmless, "\(xmp.count) bytes")
        }
    }
}
