import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// The color profile and the color space in EXIF of converted images.
@Suite(.timeLimit(.minutes(5)))
struct ConvertedColorTests {
    private static let serial = Data("SERIAL 4711".utf8)
    private static let targets: [any ImageEncoding] = [.png(), .webp(lossless: true), .jpeg(), .gif()]

    private let p3: Data
    /// The profile of a calibrated display, with its serial number.
    private let calibrated: Data

    init() throws {
        p3 = try #require(OutputColorSpace.displayP3.colorProfile)
        calibrated = p3.addingICCTag("mmod", Self.serial)
    }

    private func file(_ profile: Data?, exif: Data? = nil) throws -> Data {
        var image = DecodedImage.coordinates(PixelSize(width: 16, height: 8))
        image.colorProfile = profile
        let encoder = PNGEncoder()
        return try (exif.map { encoder.embedding(exif: $0) } ?? encoder).encode(image)
    }

    /// EXIF of a camera that writes Adobe RGB, or with other values in its tags.
    private func exif(colorSpace: [UInt8] = [0xFF, 0xFF], index: String = "R03") -> Data {
        var bytes = Array("MM\0*".utf8)
        bytes += [0, 0, 0, 8, 0, 1, 0x87, 0x69, 0, 4, 0, 0, 0, 1, 0, 0, 0, 26, 0, 0, 0, 0]
        bytes += [0, 2, 0xA0, 0x01, 0, 3, 0, 0, 0, 1]
        bytes += colorSpace
        bytes += [0, 0, 0xA0, 0x05, 0, 4, 0, 0, 0, 1, 0, 0, 0, 56, 0, 0, 0, 0]
        bytes += [0, 1, 0, 1, 0, 2, 0, 0, 0, 4]
        bytes += Array(index.utf8)
        return Data(bytes + [0, 0, 0, 0, 0])
    }

    private func metadata(_ data: Data) throws -> ImageMetadata { try CodecRegistry.standard.inspect(data).metadata }

    @Test(arguments: targets.indices)
    func `the policy decides about the private tags of a kept profile`(target: Int) throws {
        let file = try file(calibrated)
        let profiles: [MetadataPolicy: Data] = [.strip: p3, .keepWithoutLocation: p3, .keep: calibrated]
        for (policy, expected) in profiles {
            let converter = ImageConverter(metadata: policy, colorSpace: .embedded)
            #expect(try metadata(converter.convert(file, to: Self.targets[target])).colorProfile == expected)
        }
    }

    @Test(arguments: [MetadataPolicy.strip, .keepWithoutLocation, .keep])
    func `no profile of the source remains after a conversion`(policy: MetadataPolicy) throws {
        let profiles: [(OutputColorSpace, Data?)] = [(.sRGB, nil), (.displayP3, p3)]
        for (space, expected) in profiles {
            let result = try ImageConverter(metadata: policy, colorSpace: space).convert(file(calibrated), to: .png())
            #expect(try metadata(result).colorProfile == expected)
            #expect(result.range(of: Self.serial) == nil)
        }
    }

    @Test func `the policy applies to animations`() throws {
        let pixels = [0, 200].map { DecodedImage.gray(side: 16, level: $0).pixels }
        let frames = MadeFrames(PixelSize(width: 16, height: 16), pixels.map { ($0, .milliseconds(200)) })
        let image = DecodedImage(pixels: pixels[0], colorProfile: calibrated, frames: frames)
        let file = try ImageEncoder.webp(lossless: true).encode(image)
        let converter = ImageConverter(colorSpace: .embedded)
        let info = try CodecRegistry.standard.inspect(converter.convert(file, to: .webp(lossless: true)))
        #expect(info.frameCount == 2)
        #expect(info.metadata.colorProfile == p3)
    }

    @Test(arguments: [Data("broken".utf8), Data(repeating: 255, count: 300)])
    func `a damaged profile is removed, unless all metadata is kept`(profile: Data) throws {
        var image = DecodedImage.coordinates(PixelSize(width: 16, height: 8))
        image.colorProfile = profile
        // WebP stores a profile without a check.
        let file = try ImageEncoder.webp(lossless: true).encode(image)
        let profiles: [(MetadataPolicy, Data?)] = [(.strip, nil), (.keepWithoutLocation, nil), (.keep, profile)]
        for (policy, expected) in profiles {
            let converter = ImageConverter(metadata: policy, colorSpace: .embedded)
            #expect(try metadata(converter.convert(file, to: .webp(lossless: true))).colorProfile == expected)
        }
    }

    @Test func `EXIF declares the color space of converted pixels`() throws {
        let file = try file(p3, exif: exif())
        func result(_ space: OutputColorSpace) throws -> Data? {
            try metadata(ImageConverter(metadata: .keep, colorSpace: space).convert(file, to: .png())).exif
        }
        #expect(try result(.sRGB) == exif(colorSpace: [0, 1], index: "R98"))
        #expect(try result(.displayP3) == exif())
        #expect(try result(.embedded) == exif())
        let plain = try self.file(nil, exif: exif(colorSpace: [0, 1], index: "R98"))
        let wide = try ImageConverter(metadata: .keep, colorSpace: .displayP3).convert(plain, to: .png())
        #expect(try metadata(wide).exif == exif(index: "R98"))
    }

    @Test func `EXIF of pixels that are not converted stays`() throws {
        let result = try ImageConverter(metadata: .keep).convert(file(nil, exif: exif()), to: .png())
        #expect(try metadata(result).exif == exif())
    }

    @Test func `EXIF without a location declares the color space, too`() throws {
        let file = try file(p3, exif: exif())
        let result = try ImageConverter(metadata: .keepWithoutLocation).convert(file, to: .png())
        let kept = try #require(try metadata(result).exif)
        #expect(kept.range(of: Data([0xA0, 0x01, 0, 3, 0, 0, 0, 1, 0, 1])) != nil)
        #expect(kept.range(of: Data("R03".utf8)) == nil)
    }

    @Test func `damaged EXIF never traps`() {
        let whole = exif()
        for count in 0..<whole.count { #expect(OutputColorSpace.sRGB.written(in: whole.prefix(count)).count == count) }
        for index in whole.indices {
            for value in UInt8.min...255 {
                var bytes = whole
                bytes[index] = value
                #expect(OutputColorSpace.sRGB.written(in: bytes).count == whole.count)
            }
        }
    }
}
