import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// The metadata of a converted photo that has its location in each place where cameras and programs store it.
@Suite(.timeLimit(.minutes(5)))
struct MetadataPolicyTests {
    private static let targets: [any ImageEncoding] = [.webp(), .jpeg(), .png(), .gif()]
    private static let packet = Data("<rdf:Description exif:GPSLatitude='47,11.22N' exif:GPSLongitude='8,30.5E'/>".utf8)
    /// The city, dataset 2:90 of IPTC IIM.
    private static let city = Data([0x1C, 2, 90, 0, 9]) + Data("Affoltern".utf8)
    private static let remark = Data("shot at 47.187N 8.508E".utf8)
    /// The places of the location outside EXIF.
    private static let places = [packet, city, remark]

    private let photo: Data

    init() throws {
        let image = DecodedImage.coordinates(PixelSize(width: 16, height: 8))
        var file = try ImageEncoder.jpeg().embedding(exif: MadeEXIF.photo).encode(image)
        // An image resource with the identifier of IPTC, an empty name, and its size.
        let resource = Data("Photoshop 3.0\08BIM".utf8) + Data([4, 4, 0, 0, 0, 0, 0, UInt8(Self.city.count)])
        let segments = [
            Self.segment(0xE1, Data("http://ns.adobe.com/xap/1.0/\0".utf8) + Self.packet),
            Self.segment(0xED, resource + Self.city), Self.segment(0xFE, Self.remark),
        ]
        // The first two bytes are the marker of the start of the image.
        file.insert(contentsOf: segments.joined(), at: 2)
        photo = file
    }

    private static func segment(_ marker: UInt8, _ content: Data) -> Data {
        let count = content.count + 2
        return Data([0xFF, marker, UInt8(count >> 8), UInt8(count & 255)]) + content
    }

    private func exif(of file: Data) throws -> Data? { try CodecRegistry.standard.inspect(file).metadata.exif }

    @Test func `the photo has its location in each place`() throws {
        let info = try CodecRegistry.standard.inspect(photo)
        #expect(info.metadata.xmp == Self.packet && info.metadata.exif?.range(of: MadeEXIF.latitude) != nil)
        for place in Self.places { #expect(photo.range(of: place) != nil) }
    }

    @Test(arguments: [MetadataPolicy.strip, .keepCopyright, .keepWithoutLocation])
    func `no location remains in any format`(policy: MetadataPolicy) throws {
        for target in Self.targets {
            let result = try ImageConverter(metadata: policy).convert(photo, to: target)
            for place in Self.places + [MadeEXIF.latitude, MadeEXIF.makerNote, MadeEXIF.comment, MadeEXIF.preview] {
                #expect(result.range(of: place) == nil)
            }
        }
    }

    @Test func `XMP, IPTC and comments are removed even if EXIF is kept`() throws {
        for target in Self.targets {
            let result = try ImageConverter(metadata: .keep).convert(photo, to: target)
            for place in Self.places { #expect(result.range(of: place) == nil) }
        }
    }

    @Test(arguments: targets.dropLast().indices)
    func `only artist, copyright and color space remain on request`(target: Int) throws {
        let result = try ImageConverter(metadata: .keepCopyright).convert(photo, to: Self.targets[target])
        let kept = try #require(try exif(of: result))
        let tags = MadeEXIF.tags(of: kept, at: 8)
        let directory = try #require(tags.first { $0.tag == 0x8769 })
        #expect(tags.map(\.tag) == [0x013B, 0x8298, 0x8769])
        #expect(MadeEXIF.tags(of: kept, at: directory.value).map(\.tag) == [0xA001])
        #expect(kept.range(of: MadeEXIF.artist) != nil && kept.range(of: MadeEXIF.copyright) != nil)
    }

    @Test func `EXIF without artist, copyright and color space is removed`() throws {
        let image = DecodedImage.coordinates(PixelSize(width: 16, height: 8))
        let file = try ImageEncoder.png().embedding(exif: Data(ImageOrientation.right.exif)).encode(image)
        #expect(try exif(of: ImageConverter(metadata: .keepCopyright).convert(file, to: .png())) == nil)
    }
}
