import Alcedo
#if AVIF
    import AlcedoAVIF
#endif
#if JXL
    import AlcedoJXL
#endif
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// The metadata of converted photos that have their location in each place where cameras and programs store it.
@Suite(.timeLimit(.minutes(5)))
struct MetadataPolicyTests {
    /// Every encoder of the package. GIF, which holds no EXIF, is the last one.
    private static let encoders: [ImageEncoder] = {
        var encoders: [ImageEncoder] = [.webp(), .jpeg(), .png()]
        #if AVIF
            encoders.append(.avif())
        #endif
        #if JXL
            encoders.append(.jxl(effort: 3))
        #endif
        encoders.append(.gif())
        return encoders
    }()

    private static let codecs = CodecRegistry.standard
        #if AVIF
            .adding(.avif)
        #endif
        #if JXL
            .adding(.jxl)
        #endif

    /// JPEG and PNG with big-endian EXIF, and JPEG with little-endian EXIF.
    private let photos: [Data]

    init() throws {
        let image = DecodedImage.coordinates(PixelSize(width: 16, height: 8))
        let (jpeg, png) = (try ImageEncoder.jpeg().encode(image), try ImageEncoder.png().encode(image))
        photos = [
            MadePhoto.jpeg(jpeg, exif: MadeEXIF.photo), MadePhoto.png(png, exif: MadeEXIF.photo),
            MadePhoto.jpeg(jpeg, exif: MadeEXIF.made(orientation: 6, isLittleEndian: true)),
        ]
    }

    private func exif(of file: Data) throws -> Data? { try Self.codecs.inspect(file).metadata.exif }

    @Test func `the photos have their location in each place`() throws {
        for photo in photos {
            let info = try Self.codecs.inspect(photo)
            #expect(info.metadata.xmp == MadePhoto.xmp && info.orientation == .right)
            for secret in [MadeEXIF.makerNote, MadeEXIF.comment, MadeEXIF.preview] {
                #expect(info.metadata.exif?.range(of: secret) != nil)
            }
            // IPTC is written in hexadecimal digits in PNG, and in bytes in JPEG.
            #expect(MadePhoto.secrets.count { photo.range(of: $0) != nil } >= 3)
        }
        for secret in MadeEXIF.secrets { #expect(photos.contains { $0.range(of: secret) != nil }) }
        for secret in MadePhoto.secrets { #expect(photos.contains { $0.range(of: secret) != nil }) }
    }

    @Test(arguments: encoders.indices, [MetadataPolicy.strip, .keepCopyright, .keepWithoutLocation])
    func `no location remains in any format`(encoder: Int, policy: MetadataPolicy) throws {
        for photo in photos {
            let converter = ImageConverter(codecs: Self.codecs, metadata: policy)
            let result = try converter.convert(photo, to: Self.encoders[encoder])
            for secret in MadeEXIF.secrets + MadePhoto.secrets { #expect(result.range(of: secret) == nil) }
            #expect(try Self.codecs.inspect(result).metadata.xmp == nil)
            if policy == .strip { #expect(try exif(of: result) == nil) }
        }
    }

    @Test(arguments: encoders.indices)
    func `XMP, IPTC, comments and the preview image are removed even if EXIF is kept`(encoder: Int) throws {
        for photo in photos {
            let converter = ImageConverter(codecs: Self.codecs, metadata: .keep)
            let result = try converter.convert(photo, to: Self.encoders[encoder])
            for secret in [MadeEXIF.preview] + MadePhoto.secrets { #expect(result.range(of: secret) == nil) }
            #expect(try Self.codecs.inspect(result).metadata.xmp == nil)
        }
    }

    @Test(arguments: encoders.dropLast().indices)
    func `kept EXIF has the size and the orientation of the result, and no preview image`(encoder: Int) throws {
        for (photo, isLittleEndian) in zip(photos, [false, false, true]) {
            let converter = ImageConverter(codecs: Self.codecs, metadata: .keep)
            let result = try converter.convert(
                photo, to: Self.encoders[encoder], fitting: PixelSize(width: 8, height: 8))
            let size = PixelSize(width: 4, height: 8)
            let expected = MadeEXIF.made(
                orientation: 1, size: size, isLittleEndian: isLittleEndian, hasPreview: false)
            #expect(try Self.codecs.inspect(result).size == size)
            #expect(try exif(of: result) == expected)
        }
    }

    @Test(arguments: encoders.dropLast().indices)
    func `only artist, copyright and color space remain on request`(encoder: Int) throws {
        let converter = ImageConverter(codecs: Self.codecs, metadata: .keepCopyright)
        let kept = try #require(try exif(of: converter.convert(photos[0], to: Self.encoders[encoder])))
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
